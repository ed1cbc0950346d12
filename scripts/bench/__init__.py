"""Benchmarks: measured speed and accuracy against peers."""
