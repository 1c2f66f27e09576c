import { AppError } from '../kernel/app-error.ts'

/** A feature that a vendor runs on its servers and bills in addition to tokens, or whose price is unknown. */
export interface ServerFeature {
  /** The member of `BILLED_MEMBERS` by which an operator allows it. Null if it cannot be allowed. */
  readonly member: string | null
  readonly param: string
  readonly what: string
}

export function refuseFeature({ what, param }: ServerFeature): AppError {
  const message = `${what} changes what the provider does or bills, and is not taken here.`
  return new AppError('unsupported_parameter', message, { param })
}

/** Files, conversations and similar objects belong to the operator's account, which all clients of the gateway share. */
export function refuseAccountState(param: string, what: string): AppError {
  const message = `${what} would be of the account that this gateway has at the provider. Send the content instead.`
  return new AppError('unsupported_parameter', message, { param })
}

/** OpenAI caches the content before such a part for half an hour or half a day, at prices that the catalog does not have. */
export function refuseCacheMark(part: object, param: string): void {
  const mark: unknown = Reflect.get(part, CACHE_MARK)
  if (mark === undefined || mark === null || mark === false) return
  throw refuseFeature({ member: null, param: `${param}.${CACHE_MARK}`, what: `'${CACHE_MARK}'` })
}

const CACHE_MARK = 'prompt_cache_breakpoint'
