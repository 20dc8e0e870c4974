"""What Python holds that a function can reach: found, read by value, compared between calls, and put back."""
