"""Answers: engines that speak the OpenAI chat API, one client, and a durable store keyed by all that determines an answer."""
