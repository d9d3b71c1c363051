"""A client of 1.0 on a connection that negotiated an older version: everything goes through `OlderHost`."""

from __future__ import annotations

from typing import Any

from holdfast.protocol.compat.older_host import OlderHost, older_host
from served import Wire

__all__ = ["Modern"]


class Modern(Wire):
    """Thinks in 1.0, whatever the host speaks."""

    host: OlderHost | None = None

    def __init__(self, url: str, version: str) -> None:
        super().__init__(url)
        self.version = version
        self.methods: dict[Any, str] = {}

    async def begin(self, *subscriptions: str) -> Any:
        result = await self.initialize(*subscriptions, versions=(self.version,))
        assert result["protocolVersion"] == self.version
        return result

    async def send(self, message: Any) -> None:
        method, params = message["method"], message["params"]
        if "id" in message:
            self.methods[message["id"]] = method
        if self.host is None:
            await super().send(message)
        elif "id" in message:
            call = self.host.request(method, params)
            await super().send({**message, "method": call.method, "params": call.params})
        elif method == "dispatchAction":
            for action in self.host.dispatch(params["channel"], params["action"]):
                await super().send({**message, "params": {**params, "action": action}})
        else:
            await super().send(message)

    def _receive(self, message: dict[str, Any]) -> None:
        method = self.methods.get(message.get("id"), "")
        if method == "initialize" and "result" in message:
            version = message["result"]["protocolVersion"]
            self.host = older_host(version, self._believed, lambda: "2026-03-01T12:00:00.000Z")
        if self.host is None:
            super()._receive(message)
        elif "result" in message:
            super()._receive({**message, "result": self.host.result(method, message["result"])})
        elif "error" in message:
            super()._receive({**message, "error": self.host.error(method, message["error"])})
        else:
            for call in self.host.heard(message["method"], message["params"]):
                super()._receive({**message, "method": call.method, "params": call.params})

    def _take_missed(self, result: dict[str, Any]) -> None:
        if self.host is None or result["type"] != "replay":
            super()._take_missed(result)
            return
        for envelope in result["actions"]:
            for each in self.host.envelope(envelope):
                self._take_action(each)
        super()._take_missed({**result, "actions": []})

    def _take_action(self, envelope: dict[str, Any]) -> None:
        """One of the host's may stand for several under the same number."""
        if envelope["serverSeq"] == self.last_seen and self.host is not None:
            self.last_seen -= 1
        super()._take_action(envelope)

    def _believed(self, channel: str) -> Any:
        return self.state(channel) if channel in self.states else None
