const LENGTH_MAX = 2_000
/** Characters of base64 for a byte. */
const BASE64_RATIO = 4 / 3

/** The text of an answer of any endpoint, or its JSON if it is no text. */
export function answerText(body: unknown): string {
  const answer = Object(body)
  const text =
    answer.choices?.[0]?.message?.content ??
    answer.choices?.[0]?.text ??
    answer.content?.find?.((part: unknown) => Object(part).type === 'text')?.text ??
    answer.output?.find?.((item: unknown) => Object(item).type === 'message')?.content?.[0]?.text ??
    describeImages(answer.data)
  const whole: string = typeof text === 'string' ? text : (JSON.stringify(body) ?? '')
  return whole.slice(0, LENGTH_MAX)
}

/** Addresses, or how long the images in the answer are. Undefined for an answer without images. */
function describeImages(data: unknown): string | undefined {
  if (!Array.isArray(data)) return undefined
  const told = data.flatMap((image: unknown) => {
    const { url, b64_json: inline } = Object(image)
    if (typeof url === 'string') return [url]
    if (typeof inline !== 'string') return []
    return [`image of ${Math.ceil(inline.length / BASE64_RATIO / 1024)} KB in the answer`]
  })
  return told.length === 0 ? undefined : told.join(', ')
}
