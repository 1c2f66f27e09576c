import type { LaunchOrder } from './gpu-driver.ts'

// A name must not start with a dash (it would be read as an option) nor leave its directory.
const NAME = '[A-Za-z0-9][A-Za-z0-9._-]*'
const MODEL = new RegExp(`^(?:${NAME}/)?${NAME}$`)
const REVISION = new RegExp(`^${NAME}(?:/${NAME})*$`)
const QUANTIZATION = /^[A-Za-z0-9][A-Za-z0-9_]*$/
const LENGTH_MAX = 200

type EngineOrder = Pick<LaunchOrder, 'huggingfaceId' | 'revision' | 'quantization' | 'maxModelLen'>

/**
 * Returns whether an order's values are safe as arguments of an engine. The API has validated them before; this check protects
 * the machine.
 */
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
  /** Names of variables that the operator does not allow, or whose name or value has invalid characters. */
  readonly leftOut: readonly string[]
}

const VARIABLE = /^[A-Z][A-Z0-9_]*$/
const VALUE = /^[\x20-\x7e]*$/

/** Splits the account's variables into those that may be passed to the engine and the names of the others. */
export function pickVariables({ environment }: LaunchOrder, allowed: readonly string[]): AccountVariables {
  const isTaken = ([name, value]: [string, string]) =>
    allowed.includes(name) && VARIABLE.test(name) && VALUE.test(value)
  const given = Object.entries(environment)
  return {
    environment: Object.fromEntries(given.filter(isTaken)),
    leftOut: given.filter((entry) => !isTaken(entry)).map(([name]) => name),
  }
}
