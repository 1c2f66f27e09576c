import { AppError } from '../../../kernel/app-error.ts'

interface UpstreamRoomOptions {
  /** How many requests this process may have at all providers, which is bounded by its open files. */
  readonly requestsMax: number
  readonly onRefused: () => void
}

/** One provider may take this part of the room, so that a slow one leaves room for the others. */
const PROVIDER_SHARE = 0.9
/** An account may take this part of what the others leave at a provider. */
const ACCOUNT_SHARE = 0.9
/** An account may always have so many, while there is room. */
const ACCOUNT_MIN = 64
const RETRY_SECONDS = 1

interface ProviderRequests {
  running: number
  readonly byAccount: Map<string, number>
}

/** A place of one request. May be released more than once. */
interface UpstreamPlace {
  release(): void
}

/**
 * Limits how many requests run at one provider, and how many of them are of one account. So neither a vendor that does not answer nor
 * an account with thousands of streams takes the connections that others need.
 */
export class UpstreamRoom {
  readonly #options: UpstreamRoomOptions
  readonly #providers = new Map<string, ProviderRequests>()

  constructor(options: UpstreamRoomOptions) {
    this.#options = options
  }

  /** Throws `queue_full` if there is no place, so that another provider is tried. */
  enter(provider: string, accountId: string): UpstreamPlace {
    const requests = this.#providers.get(provider) ?? { running: 0, byAccount: new Map<string, number>() }
    const own = requests.byAccount.get(accountId) ?? 0
    const most = Math.max(1, Math.floor(this.#options.requestsMax * PROVIDER_SHARE))
    const rest = most - requests.running
    if (rest < 1) throw this.#refuse(fullProvider(provider, most))
    const share = Math.max(ACCOUNT_MIN, (rest + own) * ACCOUNT_SHARE)
    if (own + 1 > share) throw this.#refuse(fullAccount(provider, own))
    requests.running += 1
    requests.byAccount.set(accountId, own + 1)
    this.#providers.set(provider, requests)
    return new Place(() => this.#leave(provider, requests, accountId))
  }

  #refuse(error: AppError): AppError {
    this.#options.onRefused()
    return error
  }

  #leave(provider: string, requests: ProviderRequests, accountId: string): void {
    requests.running -= 1
    const left = (requests.byAccount.get(accountId) ?? 0) - 1
    if (left > 0) requests.byAccount.set(accountId, left)
    else requests.byAccount.delete(accountId)
    if (requests.running === 0) this.#providers.delete(provider)
  }
}

class Place implements UpstreamPlace {
  #leave: (() => void) | null

  constructor(leave: () => void) {
    this.#leave = leave
  }

  release(): void {
    this.#leave?.()
    this.#leave = null
  }
}

function fullProvider(provider: string, running: number): AppError {
  const message = `The gateway has ${running} requests at '${provider}', as many as one provider may take. Try again shortly.`
  return new AppError('queue_full', message, { retryAfterSeconds: RETRY_SECONDS })
}

function fullAccount(provider: string, running: number): AppError {
  const message = `The account has ${running} requests at '${provider}', which is its share. Try again when some of them have ended.`
  return new AppError('queue_full', message, { retryAfterSeconds: RETRY_SECONDS })
}
