import { readCertificateEnd } from '../report/watch-certificates.ts'
import type { Finding } from './finding.ts'

/** An address that the gateway calls. */
export interface CalledAddress {
  readonly name: string
  /** Null if only its adapter knows it. */
  readonly baseUrl: string | null
  /** Tried at an address that speaks the OpenAI wire, where listing models costs nothing. */
  readonly apiKey: string | null
}

export interface ProviderState {
  readonly name: string
  /** Why it could not be reached. Null if it answered. */
  readonly failure: string | null
  /** The status of its answer. Null without one. */
  readonly status: number | null
  /** When its certificate ends, in milliseconds since the epoch. Null without TLS. */
  readonly certificateEndsAtMs: number | null
}

const ANSWER_MS_MAX = 5_000
const DAY_MS = 86_400_000
const CERTIFICATE_DAYS_MIN = 14

/** Asks each provider for its list of models, which costs nothing. */
export async function readProviders(
  addresses: readonly CalledAddress[],
  request: typeof fetch = fetch,
): Promise<ProviderState[]> {
  return Promise.all(
    addresses.flatMap(({ baseUrl, ...of }) =>
      baseUrl === null ? [] : [readProvider({ ...of, baseUrl }, request)],
    ),
  )
}

async function readProvider(
  { name, baseUrl, apiKey }: CalledAddress & { readonly baseUrl: string },
  request: typeof fetch,
): Promise<ProviderState> {
  const certificateEndsAtMs = baseUrl.startsWith('https:')
    ? await readCertificateEnd(new URL(baseUrl)).then(
        (seconds) => seconds * 1e3,
        () => null,
      )
    : null
  try {
    const answer = await request(`${baseUrl.replace(/\/+$/, '')}/models`, {
      headers: apiKey === null ? {} : { authorization: `Bearer ${apiKey}` },
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
      redirect: 'manual',
    })
    await answer.body?.cancel()
    // Without a key a refusal says that somebody is there.
    const isExpected = apiKey === null && (answer.status === 401 || answer.status === 403)
    return { name, failure: null, status: isExpected ? null : answer.status, certificateEndsAtMs }
  } catch (error) {
    return { name, failure: describe(error), status: null, certificateEndsAtMs }
  }
}

/** The cause has the reason; the message of a failed fetch says nothing. */
function describe(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (!(cause instanceof Error)) return 'no answer'
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.name
}

export function checkProviders(states: readonly ProviderState[], nowMs: number): Finding[] {
  return states.flatMap((state) => checkProvider(state, nowMs))
}

function checkProvider(state: ProviderState, nowMs: number): Finding[] {
  const { name: subject, failure, status, certificateEndsAtMs } = state
  const findings: Finding[] = []
  if (failure !== null)
    findings.push({
      code: 'provider_unreachable',
      level: 'critical',
      subject,
      message: `It does not answer: ${failure}.`,
      mend: 'Check its address, name servers and firewalls on the way from this machine, or configure its proxy.',
    })
  if (status === 401 || status === 403)
    findings.push({
      code: 'provider_key_refused',
      level: 'critical',
      subject,
      message: `It refuses the key with ${status}.`,
      mend: 'Replace the key, at the provider and here.',
    })
  if (status !== null && status >= 500)
    findings.push({
      code: 'provider_failing',
      level: 'warning',
      subject,
      message: `It answers ${status}.`,
      mend: 'Look at the status page of the provider. Requests use other routes if a model has some.',
    })
  if (certificateEndsAtMs !== null) findings.push(...checkCertificate(subject, certificateEndsAtMs, nowMs))
  return findings
}

/** Looks at the certificate of a provider, or of the gateway itself. */
export function checkCertificate(subject: string, endsAtMs: number, nowMs: number): Finding[] {
  const days = Math.floor((endsAtMs - nowMs) / DAY_MS)
  if (days >= CERTIFICATE_DAYS_MIN) return []
  return [
    {
      code: 'certificate_ends',
      level: days < 3 ? 'critical' : 'warning',
      subject,
      message: days < 0 ? 'The certificate has ended.' : `The certificate ends in ${days} days.`,
      mend: 'Renew it where TLS ends: at the proxy, ingress or server.',
    },
  ]
}
