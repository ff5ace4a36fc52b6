"""What the server costs above the bare compiles, how fast it answers, and whether it stays fast as it fills up."""
