// The notation of orders: tokens of events, patterns over them.
import { describe, expect, test } from "bun:test";
import { normaliseEvents, normaliseText } from "../../golden/normalise.ts";
import { describeOrder, followsOrder, makeTokenizer } from "../../golden/order.ts";
import { assistant, call, grow, header, pair, queue, retryEnd, retryStart, run, settled, toolEnd, toolResult, toolStart, turn, user } from "./stream-builder.ts";

const [first, second] = [call("x"), call("y")];
const result = toolResult(first, "text");
const events = [header, ...run(turn(pair(user("ask")), grow(assistant([first], "toolUse")), [toolStart(first), toolEnd(result), ...pair(result)]), turn([queue([])], grow(assistant([{ type: "text", text: "hello" }], "stop")))), settled()];
const tokens = events.map(makeTokenizer());

describe("tokens", () => {
  test("a whole stream", () => {
    expect(describeOrder(tokens)).toBe(
      "H AS TS ms(u) me(u) ms(a) mu(toolcall_start) mu(toolcall_delta)×2 mu(toolcall_end) me(a,toolUse) xs(A) xe(A) ms(t,A) me(t,A) TE[A] TS q{0,0} ms(a) mu(text_start) mu(text_delta)×2 mu(text_end) me(a,stop) TE[] AE{u,a,t,a} Z{ok}",
    );
  });

  test("retries, errors and labels in the order of appearance", () => {
    const failedEnd = { ...toolEnd(toolResult(second, "no", true)) };
    expect([retryStart(2), retryEnd(true, 2), toolStart(second), failedEnd, toolStart(first)].map(makeTokenizer())).toEqual(["rs{2}", "re{true}", "xs(A)", "xe(A,isError)", "xs(B)"]);
  });
});

describe("patterns", () => {
  const start = "H AS TS ms(u) me(u) ms(a)";
  const [calls, tools] = ["mu(toolcall_start) mu(toolcall_delta)+ mu(toolcall_end) me(a,toolUse)", "xs(A) (xu(A)|xu(B))* xe(A) ms(t,A) me(t,A) TE[A]"];
  const end = "TS q{0,0} ms(a) mu(text_start) mu(text_delta)* mu(text_end) me(a,stop) TE[] AE{u,a,t,a} Z{ok}";

  test("the right order", () => {
    expect(followsOrder(tokens, `${start} ${calls} ${tools} ${end}`)).toBe(true);
  });

  test("a missing, an additional and a wrong token", () => {
    expect(followsOrder(tokens, `${start} ${calls} ${end}`)).toBe(false);
    expect(followsOrder(tokens.slice(1), `${start} ${calls} ${tools} ${end}`)).toBe(false);
    expect(followsOrder([...tokens, "Z{ok}"], `${start} ${calls} ${tools} ${end}`)).toBe(false);
    expect(followsOrder(tokens, `${start} ${calls} ${tools} ${end.replace("Z{ok}", "Z{error}")}`)).toBe(false);
  });
});

describe("normalised transcripts", () => {
  test("keep which id is which, and lose what differs between runs", () => {
    const [session, start, , turnStart] = [header, toolStart(first), 0, toolStart(second)];
    const shown = normaliseEvents([session, start, turnStart, toolStart(first)], { "/workspace": "<workspace>" });
    expect(shown.map((event) => event["toolCallId"] ?? event["id"])).toEqual(["<id-1>", "<id-2>", "<id-3>", "<id-2>"]);
    expect(shown[0]).toEqual({ ...header, id: "<id-1>", timestamp: "<time>", cwd: "<workspace>", agentVersion: "<version>", sandbox: "<sandbox>" });
  });

  test("text", () => {
    expect(normaliseText("took 12 ms in /a/b/c of 01890a5d-ac96-774b-bcce-b302099a8057", { "/a/b": "<home>" })).toBe("took <duration> in <home>/c of <id>");
  });
});
