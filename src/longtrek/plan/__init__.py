"""What a run will take, before anything runs: jobs, prompts, tokens, weights, devices, hours, and what cannot fit."""
