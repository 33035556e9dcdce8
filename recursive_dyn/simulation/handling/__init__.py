"""What a person does to a running simulation: forces, hands, commands, prescribed motion."""
