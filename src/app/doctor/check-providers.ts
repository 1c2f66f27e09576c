import { Agent, request } from 'undici'
import { createConnector } from '../../providers/connection/create-connector.ts'
import type { NetworkPath } from '../../providers/connection/network-path.ts'
import type { VendorAccount, VendorBalance } from '../../providers/vendor-account/vendor-account.ts'
import { readCertificateEnd } from '../report/watch-certificates.ts'
import type { Finding } from './finding.ts'

/** An address that the gateway calls. */
export interface CalledAddress {
  readonly name: string
  /** Null if only its adapter knows it. */
  readonly baseUrl: string | null
  /** Tried at an address that speaks the OpenAI wire, where listing models costs nothing. */
  readonly apiKeys: readonly string[]
  /** Names and values in turns, which the provider wants with each request. */
  readonly headers?: readonly string[]
  readonly path?: NetworkPath | undefined
  /** Of vendors that say what is left to spend. */
  readonly readBalance?: VendorAccount['readBalance'] | undefined
}

export interface ProviderState {
  readonly name: string
  /** Why it could not be reached. Null if it answered. */
  readonly failure: string | null
  /** The statuses of its answers, one for each key. Empty if only somebody had to be there. */
  readonly statuses: readonly number[]
  /** When its certificate ends, in milliseconds since the epoch. Null without TLS, and behind a proxy. */
  readonly certificateEndsAtMs: number | null
  /** What is left to spend with each key. Empty if the vendor does not say. */
  readonly balances?: readonly VendorBalance[]
}

const ANSWER_MS_MAX = 5_000
const KEYS_TRIED_MAX = 8
const DAY_MS = 86_400_000
/** In whole units of the currency of the vendor. */
const BALANCE_MIN = 10
const CERTIFICATE_DAYS_MIN = 14

/** Asks each provider for its list of models, which costs nothing. */
export async function readProviders(addresses: readonly CalledAddress[]): Promise<ProviderState[]> {
  return Promise.all(
    addresses.flatMap(({ baseUrl, ...of }) => (baseUrl === null ? [] : [readProvider({ ...of, baseUrl })])),
  )
}

async function readProvider(address: CalledAddress & { readonly baseUrl: string }): Promise<ProviderState> {
  const { name, baseUrl, apiKeys, path = {} } = address
  const isReadable = baseUrl.startsWith('https:') && path.proxy === undefined
  const certificateEndsAtMs = isReadable
    ? await readCertificateEnd(new URL(baseUrl)).then(
        (seconds) => seconds * 1e3,
        () => null,
      )
    : null
  const dispatcher = new Agent({ connect: createConnector(path, ANSWER_MS_MAX) })
  try {
    const tried = apiKeys.length === 0 ? [null] : apiKeys.slice(0, KEYS_TRIED_MAX)
    const statuses = await Promise.all(tried.map((apiKey) => askForModels(address, apiKey, dispatcher)))
    // Without a key a refusal says that somebody is there.
    const isExpected = apiKeys.length === 0 && (statuses[0] === 401 || statuses[0] === 403)
    const balances = await readBalances(address)
    return { name, failure: null, statuses: isExpected ? [] : statuses, certificateEndsAtMs, balances }
  } catch (error) {
    return { name, failure: describe(error), statuses: [], certificateEndsAtMs }
  } finally {
    void dispatcher.destroy()
  }
}

/** Without those that cannot be read: a key need not have the right to. */
async function readBalances({
  baseUrl,
  apiKeys,
  path,
  readBalance,
}: CalledAddress & { readonly baseUrl: string }): Promise<VendorBalance[]> {
  if (readBalance === undefined) return []
  const base = baseUrl.replace(/\/+$/, '')
  const read = apiKeys
    .slice(0, KEYS_TRIED_MAX)
    .map((key) => readBalance({ baseUrl: base, key, path }).catch(() => null))
  return (await Promise.all(read)).filter((balance) => balance !== null)
}

async function askForModels(
  { baseUrl, headers = [] }: { readonly baseUrl: string; readonly headers?: readonly string[] },
  apiKey: string | null,
  dispatcher: Agent,
): Promise<number> {
  const answer = await request(`${baseUrl.replace(/\/+$/, '')}/models`, {
    headers: [...headers, ...(apiKey === null ? [] : ['authorization', `Bearer ${apiKey}`])],
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
    dispatcher,
  })
  // Its length is of no interest, and not bounded.
  answer.body.on('error', () => {}).destroy()
  return answer.statusCode
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
  const { name: subject, failure, statuses, certificateEndsAtMs } = state
  const findings: Finding[] = []
  if (failure !== null)
    findings.push({
      code: 'provider_unreachable',
      level: 'critical',
      subject,
      message: `It does not answer: ${failure}.`,
      mend: 'Check its address, name servers and firewalls on the way from this machine, or configure its proxy.',
    })
  for (const [index, status] of statuses.entries())
    if (status === 401 || status === 403)
      findings.push({
        code: 'provider_key_refused',
        level: statuses.length === 1 ? 'critical' : 'warning',
        subject,
        message: `It refuses ${statuses.length === 1 ? 'the key' : `key ${index + 1} of ${statuses.length}`} with ${status}.`,
        mend: 'Replace the key, at the provider and here.',
      })
  const failing = statuses.find((status) => status >= 500)
  if (failing !== undefined)
    findings.push({
      code: 'provider_failing',
      level: 'warning',
      subject,
      message: `It answers ${failing}.`,
      mend: 'Look at the status page of the provider. Requests use other routes if a model has some.',
    })
  for (const balance of state.balances ?? []) findings.push(...checkBalance(subject, balance))
  if (certificateEndsAtMs !== null) findings.push(...checkCertificate(subject, certificateEndsAtMs, nowMs))
  return findings
}

function checkBalance(subject: string, { amount, currency, isExhausted }: VendorBalance): Finding[] {
  if (!isExhausted && amount >= BALANCE_MIN) return []
  return [
    {
      code: 'vendor_balance_low',
      level: isExhausted ? 'critical' : 'warning',
      subject,
      message: `${amount.toFixed(2)} ${currency} are left to spend there${isExhausted ? ': it refuses requests' : ''}.`,
      mend: 'Buy credit at the vendor, or let it charge a card by itself.',
    },
  ]
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
