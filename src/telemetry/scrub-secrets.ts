/**
 * Removes credentials from a complete log line: from messages, stacks, headers and nested objects. Works on the text, because
 * errors of upstreams and drivers have no known structure.
 */
export function scrubSecrets(line: string): string {
  return line.replace(NAMED_SECRET, `$1"${REDACTED}"`).replace(SECRET, `$1${REDACTED}`)
}

const REDACTED = '[redacted]'

/** A property whose name identifies a credential, such as `"authorization":"…"` or `"apiKey":["…"]`. */
const NAMED_SECRET =
  /("(?:proxy-)?(?:authorization|cookie|set-cookie|x-api-key|x-goog-api-key|api[-_]?keys?|password|secret|access[-_]?token|refresh[-_]?token|metrics[-_]?token|bootstrap[-_]?key)"\s*:\s*)(?:"(?:[^"\\]|\\.)*"|\[[^\][]*\])/gi

/** A value that looks like a credential: our keys, vendors' keys, bearer tokens, passwords in URLs, keys in queries. */
const SECRET =
  /(\bpk-(?:live|prod|staging|test|dev)-|\b(?:sk|gsk|xai|csk|tgp|fw|hf|whsec|rk)[-_]|\bAIza|\bBearer\s+|:\/\/[^\s:/@"]*:(?=[^\s/@"]+@)|[?&](?:key|api_key|token|access_token)=)(?!\[redacted\])[^\s"'\\&@,;]{4,}/gi
