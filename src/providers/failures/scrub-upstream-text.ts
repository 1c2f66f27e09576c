/**
 * Removes credentials and internal addresses from an upstream's message, because clients may see it: some upstreams repeat the
 * key that they received, and proxies name the host behind them.
 */
export function scrubUpstreamText(text: string): string {
  let scrubbed = text.slice(0, TEXT_LENGTH_MAX)
  for (const secret of configuredSecrets) scrubbed = scrubbed.replaceAll(secret, REDACTED)
  for (const pattern of PATTERNS) scrubbed = scrubbed.replace(pattern, REDACTED)
  return scrubbed
}

/** Registers configured secrets, so that they are removed even if they match no pattern. */
export function rememberSecrets(texts: readonly string[]): void {
  for (const text of texts) {
    if (text.length >= SECRET_LENGTH_MIN && configuredSecrets.size < SECRETS_MAX) configuredSecrets.add(text)
  }
}

const REDACTED = '[redacted]'
const TEXT_LENGTH_MAX = 4_000
/** Shorter secrets could be ordinary words. */
const SECRET_LENGTH_MIN = 8
const SECRETS_MAX = 10_000

// Shared by the whole process: errors are created in many places that do not know all credentials.
const configuredSecrets = new Set<string>()

const PATTERNS: readonly RegExp[] = [
  // URLs with a password, with a host name without a dot, or with a host in a private zone.
  /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/@"'<>]{1,200}@[^\s"'<>]{1,500}/gi,
  /\bhttps?:\/\/(?:[a-z0-9-]{1,63}|[a-z0-9.-]{1,200}\.(?:internal|local|localdomain|lan|corp|intranet|svc|home\.arpa|consul))(?::\d{1,5})?(?![a-z0-9.-])[^\s"'<>]{0,500}/gi,
  /\b[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,6}\.(?:internal|localdomain|lan|corp|intranet|svc|svc\.cluster\.local|cluster\.local|home\.arpa|consul)\b(?::\d{1,5})?/gi,
  /\blocalhost(?::\d{1,5})?\b/gi,
  // Addresses of private, shared, link-local and loopback networks.
  /\b(?:10|127)(?:\.\d{1,3}){3}(?::\d{1,5})?\b/g,
  /\b(?:192\.168|169\.254|172\.(?:1[6-9]|2\d|3[01])|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7]))(?:\.\d{1,3}){2}(?::\d{1,5})?\b/g,
  /(?<![\w:])(?:::1|f[cd][0-9a-f]{2}:[0-9a-f:]{2,35}|fe80:[0-9a-f:]{2,35})(?![\w:])/gi,
  // What clouds call the operator's accounts: resources of AWS, projects and identities of Google, resources of Azure. A configured name
  // within them is already replaced.
  /\barn:aws[a-z-]{0,20}:[^\s"'<>,;)]{1,500}/gi,
  /\/?\/?(?:[a-z0-9.-]{1,60}\/)?\bprojects\/[A-Za-z0-9:._[\]-]{1,100}(?:\/[A-Za-z0-9._@%:[\]-]{1,100}){0,10}/g,
  /\b(?:project|project_number|project number|account|account id|consumer)[\s:='"]{1,4}\d{6,20}\b/gi,
  /\b[A-Za-z0-9._-]{1,100}@[A-Za-z0-9.[\]-]{1,100}\.gserviceaccount\.com\b/gi,
  /\/?\b(?:subscriptions|resourceGroups)\/[A-Za-z0-9._()-]{1,100}(?:\/[A-Za-z0-9._()-]{1,100}){0,12}/gi,
  /\b[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})?\.(?:openai\.azure\.com|cognitiveservices\.azure\.com|services\.ai\.azure\.com)\b/gi,
  /\b\d{12}\b/g,
  // Headers and members whose name indicates that a credential follows.
  /\b(?:bearer|basic)\s+[A-Za-z0-9._~+/=-]{6,}/gi,
  /\b(?:authorization|x-api-key|x-goog-api-key|x-key|api[-_]?key|access[-_]?token|client[-_]?secret|password)["'\\]{0,3}\s{0,3}[:=]\s{0,3}["'\\]{0,3}(?!\[redacted\])[^\s"'\\,;}]{4,}/gi,
  /[?&](?:key|api_key|token|access_token|sig|signature)=[^\s&"'<>]{4,}/gi,
  // Formats of vendors' keys and of the gateway's own keys.
  /\b(?:sk|pk|rk|gsk|xai|csk|tgp|fw|hf|r8|whsec|key|pplx|nvapi|esecret)[-_][A-Za-z0-9_*.-]{8,}/g,
  /\bAIza[A-Za-z0-9_-]{10,}/g,
  /\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?/g,
  // A long run of letters and digits is an id or a key. Clients need neither.
  /\b(?=[A-Za-z]{0,60}\d)(?=\d{0,60}[A-Za-z])[A-Za-z0-9]{28,}\b/g,
]
