"""Chat channel (04-chat): one conversation. Turns, tool calls, questions, pending messages, the draft.

`messages`, `parts`, `tools` and `inputs` hold what a turn is made of; `state` the chat around it. What an
action does is decided in `reducer` (turns, text, pending messages), `tool_calls` (every `chat/toolCall*`
action) and `questions` (`chat/input*`).
"""
