"""What readers get: tables in several formats, pages of papers, and the site."""
