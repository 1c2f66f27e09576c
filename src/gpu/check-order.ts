import type { LaunchOrder } from './gpu-driver.ts'

// Names that neither begin like an option nor lead out of a directory.
const NAME = '[A-Za-z0-9][A-Za-z0-9._-]*'
const MODEL = new RegExp(`^(?:${NAME}/)?${NAME}$`)
const REVISION = new RegExp(`^${NAME}(?:/${NAME})*$`)
const QUANTIZATION = /^[A-Za-z0-9][A-Za-z0-9_]*$/
const LENGTH_MAX = 200

type EngineOrder = Pick<LaunchOrder, 'huggingfaceId' | 'revision' | 'quantization' | 'maxModelLen'>

/** Returns whether an order's values may become arguments of an engine. They were checked for the account; this check is for the machine. */
export function isOrderSafe({ huggingfaceId, revision, quantization, maxModelLen }: EngineOrder): boolean {
  if (!isName(MODEL, huggingfaceId) || !isName(QUANTIZATION, quantization)) return false
  if (revision !== null && !isName(REVISION, revision)) return false
  return maxModelLen === null || (Number.isSafeInteger(maxModelLen) && maxModelLen > 0)
}

function isName(pattern: RegExp, text: string): boolean {
  return text.length <= LENGTH_MAX && pattern.test(text) && !text.includes('..')
}

interface AccountVariables {
  readonly environment: Readonly<Record<string, string>>
  /** Names of variables that the operator does not allow. */
  readonly leftOut: readonly string[]
}

const VARIABLE = /^[A-Z][A-Z0-9_]*$/
const VALUE = /^[\x20-\x7e]*$/

/** Takes the account's variables whose names the operator allows. */
export function pickVariables({ environment }: LaunchOrder, allowed: readonly string[]): AccountVariables {
  const isTaken = ([name, value]: [string, string]) =>
    allowed.includes(name) && VARIABLE.test(name) && VALUE.test(value)
  const given = Object.entries(environment)
  return {
    environment: Object.fromEntries(given.filter(isTaken)),
    leftOut: given.filter((entry) => !isTaken(entry)).map(([name]) => name),
  }
}
