const LENGTH_MAX = 2_000

/** The text of an answer of any endpoint, or its JSON if it is no text. */
export function answerText(body: unknown): string {
  const answer = Object(body)
  const text =
    answer.choices?.[0]?.message?.content ??
    answer.choices?.[0]?.text ??
    answer.content?.find?.((part: unknown) => Object(part).type === 'text')?.text ??
    answer.output?.find?.((item: unknown) => Object(item).type === 'message')?.content?.[0]?.text
  const whole: string = typeof text === 'string' ? text : (JSON.stringify(body) ?? '')
  return whole.slice(0, LENGTH_MAX)
}
