"""Reading a user's file: its format and encoding, and its numbers, dates and missing values.

`decimal_mark` decides between the commas and points of numbers. Downloaded files are read here,
too.
"""
