"""The words of the notebook: %%region, %profile_once, %regions, %profiler."""
