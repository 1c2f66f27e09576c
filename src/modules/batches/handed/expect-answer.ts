const OUTPUT_LIMIT = /"(?:max_tokens|max_completion_tokens|max_output_tokens|maxOutputTokens)":(\d{1,7})/
const BYTES_PER_TOKEN = 4
/** Of an answer without its text. */
const ENVELOPE_BYTES = 2 * 1024
/** For a line that sets no limit. */
const ANSWER_BYTES_USUAL = 200 * 1024

/** About how long the answer to a line may become. */
export function expectAnswer(body: string): number {
  const tokens = OUTPUT_LIMIT.exec(body)?.[1]
  return tokens === undefined ? ANSWER_BYTES_USUAL : ENVELOPE_BYTES + Number(tokens) * BYTES_PER_TOKEN
}
