"""Planning and running units of work, and keeping what they yield."""
