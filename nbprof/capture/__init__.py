"""The only package that starts, toggles or stops torch.profiler."""
