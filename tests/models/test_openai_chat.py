"""The OpenAI-compatible provider against a server on this machine."""

from __future__ import annotations

import threading
from typing import Any

import httpx
import pytest

from interlock.errors import DefinitionError, ModelError
from interlock.messages.chunks import Chunk, StepFinish, TextDelta, TextEnd, TextStart, ToolCall
from interlock.messages.parts import FilePart, TextPart
from interlock.messages.prompt import PromptMessage
from interlock.messages.usage import Usage
from interlock.models import ModelRequest, OpenAIChatModel, ToolChoice, ToolSpec
from tests.models.asked import asking, chunks_of, deltas, model_at
from tests.models.loopback import HELLO, Exchange, Serve, cut, delta, events, refused, sent_messages, streamed

TRACK = ToolSpec("track", "Find a parcel.", {"type": "object", "properties": {"id": {"type": "string"}}})


@pytest.mark.anyio
async def test_a_streamed_answer_becomes_chunks(serve: Serve) -> None:
    chunks = await chunks_of(model_at(serve(streamed(HELLO))))
    assert chunks == [
        TextStart("0"),
        TextDelta("Hel", "0"),
        TextDelta("lo", "0"),
        TextEnd("0"),
        StepFinish("stop", Usage(3, 2), {"openai": {"id": "chatcmpl-1", "model": "m-1"}}),
    ]


@pytest.mark.anyio
async def test_every_cut_of_the_bytes_gives_the_same_chunks(serve: Serve) -> None:
    call = [{"index": 0, "id": "a", "function": {"name": "f", "arguments": '{"x": "ß\u2028"}'}}]
    text = ": hello\r\n\r\nid: 7\n\nevent: ping\ndata\n\n"
    text += events(delta(content="Grüße \u2028 👩‍👧"), delta(tool_calls=call), delta("stop"))
    body = text.encode()
    bytewise = [body[n : n + 1] for n in range(len(body))]
    singly = [cut(body, [n]) for n in range(0, len(body), 7)]
    crlf = body.replace(b"\n", b"\r\n").replace(b"\r\r", b"\r")
    server = serve(*(streamed(pieces) for pieces in ([body], bytewise, cut(crlf, range(len(crlf))), *singly)))
    async with httpx.AsyncClient() as client:
        model = model_at(server, client=client)
        whole, *others = [await chunks_of(model) for _ in range(3 + len(singly))]
    assert deltas(whole) == ["Grüße \u2028 👩‍👧"]
    assert [c.args for c in whole if isinstance(c, ToolCall)] == [{"x": "ß\u2028"}]
    assert all(chunks == whole for chunks in others)


@pytest.mark.anyio
async def test_events_are_utf8_whatever_the_server_calls_them(serve: Serve) -> None:
    body = events(delta(content="Grüße"), delta("stop"))
    server = serve(streamed(body, "text/event-stream; charset=iso-8859-1"))
    assert deltas(await chunks_of(model_at(server))) == ["Grüße"]


@pytest.mark.anyio
@pytest.mark.parametrize("size", [1, 2, 4096])
async def test_a_byte_order_mark_hides_nothing(serve: Serve, size: int) -> None:
    body = ("\ufeff" + events(delta(content="first"), delta(content="\ufeffsecond"), delta("stop"))).encode()
    server = serve(streamed(body[n : n + size] for n in range(0, len(body), size)))
    assert deltas(await chunks_of(model_at(server))) == ["first", "\ufeffsecond"]


@pytest.mark.anyio
async def test_a_byte_order_mark_before_an_answer_that_is_not_streamed_is_no_part_of_it(serve: Serve) -> None:
    body = '\ufeff{"choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}]}'
    assert deltas(await chunks_of(model_at(serve(streamed(body, "application/json"))))) == ["Hello"]


@pytest.mark.anyio
@pytest.mark.parametrize("media_type", ["Text/Event-Stream", "TEXT/EVENT-STREAM; charset=latin-1"])
async def test_media_types_are_compared_without_case(serve: Serve, media_type: str) -> None:
    body = events(delta(content="Grüße"), delta("stop"))
    assert deltas(await chunks_of(model_at(serve(streamed(body, media_type))))) == ["Grüße"]


@pytest.mark.anyio
async def test_a_chunk_is_there_before_the_next_is_sent(serve: Serve) -> None:
    arrived = threading.Event()

    def play(exchange: Exchange) -> None:
        exchange.head()
        exchange.send(events(delta(content="first"), done=False).encode())
        assert arrived.wait(5), "the first chunk did not arrive before the second was sent"
        exchange.send(events(delta(content="second"), delta("stop")).encode())
        exchange.finish()

    async with model_at(serve(play)).stream(asking("Hello")) as stream:
        await anext(stream)
        assert await anext(stream) == TextDelta("first", "0")
        arrived.set()
        assert await anext(stream) == TextDelta("second", "0")


@pytest.mark.anyio
async def test_an_answer_that_is_not_streamed_is_read_all_the_same(serve: Serve) -> None:
    body = '{"choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 1}}'
    chunks = await chunks_of(model_at(serve(streamed(body, "application/json; charset=utf-8"))))
    assert chunks == [TextStart("0"), TextDelta("Hello", "0"), TextEnd("0"), StepFinish("stop", Usage(1))]


# What is sent


@pytest.mark.anyio
async def test_the_request_carries_what_was_asked(serve: Serve) -> None:
    server = serve(streamed(HELLO))
    prompt = [PromptMessage("system", [TextPart("Be kind.")]), PromptMessage("user", [TextPart("Grüße \ud800")])]
    settings = {"temperature": 0, "max_tokens": 9, "top_p": None, "stop": ["x"], "seed": 1, "colour": "red"}
    options = {"openai": {"logprobs": True, "temperature": 1}, "other": {"top_k": 1}}
    request = ModelRequest(prompt, tools=[TRACK], settings=settings, provider_options=options)
    await chunks_of(model_at(server, headers={"X-Title": "tests"}), request)
    (exchange,) = server.requests
    function = {"name": "track", "description": "Find a parcel.", "parameters": TRACK.parameters}
    assert sent_messages(exchange) == [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Grüße \ud800"},
    ]
    assert {key: value for key, value in exchange.body.items() if key != "messages"} == {
        "model": "m-1",
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [{"type": "function", "function": function}],
        "tool_choice": "auto",
        "temperature": 1,
        "max_tokens": 9,
        "stop": ["x"],
        "seed": 1,
        "logprobs": True,
    }
    assert exchange.path == "/v1/chat/completions"
    assert exchange.headers["authorization"] == "Bearer sk-test"
    assert exchange.headers["content-type"] == "application/json"
    assert exchange.headers["x-title"] == "tests"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("choice", "sent"),
    [("none", "none"), ("required", "required"), ("track", {"type": "function", "function": {"name": "track"}})],
)
async def test_tool_choice_is_sent_with_tools(serve: Serve, choice: ToolChoice, sent: object) -> None:
    server = serve(streamed(HELLO))
    prompt = asking("Hello").prompt
    await chunks_of(model_at(server), ModelRequest(prompt, tools=[TRACK], tool_choice=choice))
    await chunks_of(model_at(server), ModelRequest(prompt, tool_choice=choice))
    first, second = server.requests
    assert first.body["tool_choice"] == sent
    assert not {"tools", "tool_choice"} & set(second.body)


@pytest.mark.anyio
async def test_an_output_schema_is_sent_as_the_format_of_the_response_unless_the_settings_say_another(
    serve: Serve,
) -> None:
    schema = {"title": "Trip", "type": "object", "properties": {"days": {"type": "integer"}}}
    server = serve(streamed(HELLO))
    prompt = asking("Where?").prompt
    await chunks_of(model_at(server), ModelRequest(prompt, output_schema=schema))
    own = {"type": "json_object"}
    await chunks_of(model_at(server), ModelRequest(prompt, output_schema=schema, settings={"response_format": own}))
    first, second = server.requests
    wanted = {"name": "Trip", "schema": schema, "strict": False}
    assert first.body["response_format"] == {"type": "json_schema", "json_schema": wanted}
    assert second.body["response_format"] == own


@pytest.mark.anyio
async def test_options_of_the_provider_come_last_and_none_takes_a_key_out(serve: Serve) -> None:
    server = serve(streamed(HELLO))
    options = {"openai": {"top_k": 1, "user": "a"}, "groq": {"top_k": 2, "stream_options": None}}
    await chunks_of(model_at(server, provider="groq"), ModelRequest(asking("Hi").prompt, provider_options=options))
    body = server.requests[0].body
    assert (body["top_k"], body["user"], "stream_options" in body) == (2, "a", False)


@pytest.mark.anyio
async def test_options_that_are_no_mapping_are_refused(serve: Serve) -> None:
    request = ModelRequest(asking("Hi").prompt, provider_options={"openai": ["logprobs"]})
    with pytest.raises(DefinitionError, match=r"provider_options\['openai'\] must map"):
        await chunks_of(model_at(serve(streamed(HELLO))), request)


@pytest.mark.anyio
async def test_what_cannot_be_written_as_json_is_refused(serve: Serve) -> None:
    request = ModelRequest(asking("Hi").prompt, settings={"temperature": float("nan")})
    with pytest.raises(ModelError, match="cannot be written as JSON"):
        await chunks_of(model_at(serve(streamed(HELLO))), request)


@pytest.mark.anyio
async def test_a_prompt_that_the_form_cannot_carry_is_refused(serve: Serve) -> None:
    prompt = [PromptMessage("user", [FilePart("application/pdf", url="https://example.com/a.pdf")])]
    with pytest.raises(ModelError, match=r"the prompt cannot be sent: .*application/pdf"):
        await chunks_of(model_at(serve(streamed(HELLO))), ModelRequest(prompt))


@pytest.mark.anyio
async def test_openai_itself_is_told_the_limit_by_its_new_name() -> None:
    heard: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        heard.append(request)
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, text=HELLO)

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client:
        model = OpenAIChatModel("gpt-5-mini", api_key="sk-test", client=client)
        await chunks_of(model, ModelRequest(asking("Hi").prompt, settings={"max_tokens": 9}))
    assert str(heard[0].url) == "https://api.openai.com/v1/chat/completions"
    assert b'"max_completion_tokens":9' in heard[0].content
    assert b'"max_tokens"' not in heard[0].content


# Where, and with which key


@pytest.mark.anyio
async def test_base_url_and_key_come_from_the_environment(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve(streamed(HELLO))
    model = OpenAIChatModel("m-1")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/?api-version=1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-env\n")
    assert deltas(await chunks_of(model)) == ["Hel", "lo"]
    assert server.requests[0].path == "/v1/chat/completions?api-version=1"
    assert server.requests[0].headers["authorization"] == "Bearer sk-env"


@pytest.mark.anyio
async def test_arguments_go_before_the_environment(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-env")
    server = serve(streamed(HELLO))
    await chunks_of(model_at(server))
    assert server.requests[0].headers["authorization"] == "Bearer sk-test"


@pytest.mark.anyio
async def test_without_a_key_openai_is_not_called() -> None:
    with pytest.raises(DefinitionError, match=r"model openai/gpt-5-mini: no API key: .* OPENAI_API_KEY"):
        await chunks_of(OpenAIChatModel("gpt-5-mini"))


@pytest.mark.anyio
async def test_without_a_key_another_server_is_called_without_one(serve: Serve) -> None:
    server = serve(streamed(HELLO), refused(401, '{"detail": "who are you?"}'), refused(503, '{"error": "busy"}'))
    assert deltas(await chunks_of(model_at(server, api_key=None))) == ["Hel", "lo"]
    assert "authorization" not in server.requests[0].headers
    with pytest.raises(ModelError, match=r"who are you\? \(no key was sent: set OPENAI_API_KEY") as caught:
        await chunks_of(model_at(server, api_key=None))
    assert (caught.value.status, caught.value.retryable) == (401, False)
    with pytest.raises(ModelError, match=r"busy$"):
        await chunks_of(model_at(server, api_key=None))


@pytest.mark.anyio
@pytest.mark.parametrize("key", ["sk-\nsecret", "sk-sécret"])
async def test_a_key_that_no_header_can_carry_is_refused_unseen(serve: Serve, key: str) -> None:
    with pytest.raises(DefinitionError, match="holds characters that no key has") as caught:
        await chunks_of(model_at(serve(streamed(HELLO)), api_key=key))
    assert "cret" not in str(caught.value)


@pytest.mark.parametrize(
    ("headers", "fault"),
    [
        ({"X-Title": "sécret"}, "the value of 'X-Title' in headers= must be printable ASCII"),
        ({"X-Title": "a\r\nX-Secret: b"}, "the value of 'X-Title' in headers="),
        ({"X-Title": " secret"}, "the value of 'X-Title' in headers="),
        ({"X Title": "a"}, "headers= holds 'X Title', which is no name of a header"),
        ({"": "a"}, "headers= holds '', which is no name"),
        ({"Ü": "ü", "X": "ü"}, r"2 faults\n  1. headers= holds 'Ü'.*\n  2. the value of 'X'"),
    ],
)
def test_headers_that_cannot_be_sent_are_refused_unseen(headers: dict[str, str], fault: str) -> None:
    with pytest.raises(DefinitionError, match=fault) as caught:
        OpenAIChatModel("m-1", headers=headers)
    assert str(caught.value).startswith("model openai/m-1: ")
    assert "cret" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"timeout": -1.0}, r"timeout= is a number of seconds above 0, not -1\.0"),
        ({"timeout": float("nan")}, "timeout= is a number of seconds above 0, not nan"),
        ({"timeout": "10"}, "timeout= is a number of seconds above 0, not '10'"),
        ({"base_url": 8080}, "base_url= is a text, not a int"),
        ({"api_key": b"secret"}, "api_key= is a text, not a bytes"),
        ({"provider": None}, "provider= is a text, not a NoneType"),
        ({"headers": ["secret"]}, "headers= maps names to values, and is no list"),
    ],
)
def test_options_of_another_type_are_refused_unseen(options: dict[str, Any], fault: str) -> None:
    with pytest.raises(DefinitionError, match=fault) as caught:
        OpenAIChatModel("m-1", **options)
    assert "cret" not in str(caught.value)


@pytest.mark.anyio
async def test_headers_that_can_be_sent_are_sent(serve: Serve) -> None:
    server = serve(streamed(HELLO))
    headers = {"X-Title": "a b~\t!", "X-Empty": "", "x_y.z": "1"}
    await chunks_of(model_at(server, headers=headers))
    assert {name: server.requests[0].headers[name.lower()] for name in headers} == headers


# What goes wrong


@pytest.mark.anyio
@pytest.mark.parametrize("status", [400, 401, 404, 408, 429, 500, 503, 529])
async def test_a_refusal_is_a_model_error(serve: Serve, status: int) -> None:
    body = '{"error": {"message": "not like this", "code": null}}'
    with pytest.raises(ModelError, match="not like this") as caught:
        await chunks_of(model_at(serve(refused(status, body)), provider="acme"))
    error = caught.value
    assert (error.provider, error.status, error.body) == ("acme", status, body)
    assert error.retryable == (status in (408, 429) or status >= 500)


@pytest.mark.anyio
async def test_a_long_refusal_is_cut(serve: Serve) -> None:
    with pytest.raises(ModelError) as caught:
        await chunks_of(model_at(serve(refused(500, "x" * 100_000, "text/plain"))))
    assert len(caught.value.body or "") == 65_536
    assert caught.value.message == "Internal Server Error"


@pytest.mark.anyio
async def test_a_refusal_that_breaks_off_is_still_that_refusal(serve: Serve) -> None:
    def play(exchange: Exchange) -> None:
        exchange.head(503, "application/json")
        exchange.send(b'{"error"')
        exchange.break_off()

    with pytest.raises(ModelError, match="Service Unavailable") as caught:
        await chunks_of(model_at(serve(play)))
    assert caught.value.status == 503


@pytest.mark.anyio
async def test_another_kind_of_answer_is_refused(serve: Serve) -> None:
    with pytest.raises(ModelError, match="answered with text/html instead of an event stream") as caught:
        await chunks_of(model_at(serve(streamed("<html>Welcome</html>", "text/html"))))
    assert (caught.value.body, caught.value.retryable) == ("<html>Welcome</html>", False)


@pytest.mark.anyio
@pytest.mark.parametrize("body", ['data: {"choices": [\n\n', "data: [1]\n\n", "data: hello\n\n"])
async def test_an_event_that_is_no_object_is_refused(serve: Serve, body: str) -> None:
    with pytest.raises(ModelError, match="no JSON object") as caught:
        await chunks_of(model_at(serve(streamed(body))))
    assert caught.value.body == body.removeprefix("data: ").strip()


async def until_it_fails(model: OpenAIChatModel) -> tuple[list[Chunk], ModelError]:
    got: list[Chunk] = []
    with pytest.raises(ModelError) as caught:  # noqa: PT012
        async with model.stream(asking("Hello")) as stream:
            async for chunk in stream:
                got.append(chunk)
    return got, caught.value


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("line", "reported", "status"),
    [
        ("", {"error": {"message": "lost it", "code": 502}}, 502),
        ("event: error\n", {"error": {"message": "lost it", "status_code": 502}}, 502),
        ("event: error\n", {"message": "lost it", "type": "server_error"}, None),
    ],
)
async def test_an_error_in_the_stream_comes_after_what_was_said_before(
    serve: Serve, line: str, reported: object, status: int | None
) -> None:
    body = events(delta(content="half"), done=False) + line + events(reported)
    got, error = await until_it_fails(model_at(serve(streamed(body))))
    assert got == [TextStart("0"), TextDelta("half", "0")]
    assert (error.message, error.status, error.retryable) == ("lost it", status, True)


@pytest.mark.anyio
@pytest.mark.parametrize("ending", ["finish", "break_off"])
async def test_an_answer_without_its_end_is_an_error(serve: Serve, ending: str) -> None:
    def play(exchange: Exchange) -> None:
        exchange.head()
        exchange.send(events(delta(content="half"), done=False).encode())
        getattr(exchange, ending)()

    got, error = await until_it_fails(model_at(serve(play)))
    assert got == [TextStart("0"), TextDelta("half", "0")]
    assert error.retryable
    assert ("broke off" if ending == "finish" else "the connection failed") in error.message


@pytest.mark.anyio
async def test_a_stream_that_failed_does_not_go_on(serve: Serve) -> None:
    body = events({"error": "no"}, delta(content="more"), delta("stop"))
    async with model_at(serve(streamed(body))).stream(asking("Hello")) as stream:
        with pytest.raises(ModelError):
            await anext(stream)
        with pytest.raises(StopAsyncIteration):
            await anext(stream)
