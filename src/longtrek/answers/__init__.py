"""Answers: engines that speak the OpenAI chat API, one client, and a durable store of keyed answers."""
