import { parseDatabaseAddress } from '../../storage/connection/database-address.ts'

/** One setting. `parse` returns the value, or throws a `RangeError` that says what is allowed. */
export interface Setting<Value> {
  readonly environment: string
  readonly description: string
  /** The allowed values, as shown in the documentation. */
  readonly allowed: string
  readonly defaultText: string | null
  /** Never printed. */
  readonly isSecret: boolean
  readonly parse: (text: string) => Value
}

interface About {
  readonly environment: string
  readonly description: string
  readonly isSecret?: boolean
}

export function textSetting(about: About, defaultText: string): Setting<string> {
  return setting(about, 'text', defaultText, (text) => text)
}

/** The allowed form of a text. */
interface Form {
  readonly allowed: string
  readonly isAllowed: (text: string) => boolean
}

const ANY_TEXT: Form = { allowed: 'text', isAllowed: () => true }

export function optionalTextSetting(about: About, form: Form = ANY_TEXT): Setting<string | null> {
  return setting(about, form.allowed, null, (text) => {
    if (!form.isAllowed(text)) throw new RangeError(form.allowed)
    return text
  })
}

export function integerSetting(
  about: About,
  bounds: { default: number; minimum: number; maximum: number },
): Setting<number> {
  const allowed = `a whole number from ${bounds.minimum} to ${bounds.maximum}`
  return setting(about, allowed, String(bounds.default), (text) => {
    const value = /^-?\d+$/.test(text) ? Number(text) : NaN
    if (!Number.isSafeInteger(value) || value < bounds.minimum || value > bounds.maximum) {
      throw new RangeError(allowed)
    }
    return value
  })
}

export function shareSetting(about: About, defaultShare: number): Setting<number> {
  const allowed = 'a number from 0 to 1'
  return setting(about, allowed, String(defaultShare), (text) => {
    const value = /^\d(\.\d{1,9})?$/.test(text) ? Number(text) : NaN
    if (!(value <= 1)) throw new RangeError(allowed)
    return value
  })
}

export function amountSetting(about: About, defaultUsd: number): Setting<number> {
  const allowed = 'an amount in dollars, zero or more, with at most nine decimals'
  return setting(about, allowed, String(defaultUsd), (text) => {
    if (!/^\d{1,9}(\.\d{1,9})?$/.test(text)) throw new RangeError(allowed)
    return Number(text)
  })
}

export function booleanSetting(about: About, defaultValue: boolean): Setting<boolean> {
  return setting(about, 'true or false', String(defaultValue), (text) => {
    if (text === 'true' || text === '1' || text === 'on') return true
    if (text === 'false' || text === '0' || text === 'off') return false
    throw new RangeError('true or false')
  })
}

export function choiceSetting<Choice extends string>(
  about: About,
  choices: readonly Choice[],
  defaultChoice: Choice,
): Setting<Choice> {
  const allowed = `one of ${choices.join(', ')}`
  return setting(about, allowed, defaultChoice, (text) => {
    const choice = choices.find((known) => known === text)
    if (choice === undefined) throw new RangeError(allowed)
    return choice
  })
}

/** Any of the choices in the order of preference, or `none`. */
export function choicesSetting<Choice extends string>(
  about: About,
  choices: readonly Choice[],
  defaultChoice: Choice,
): Setting<readonly Choice[]> {
  const allowed = `${choices.join(', ')} or several of them, separated by commas, or none`
  return setting(about, allowed, defaultChoice, (text) => {
    if (text === 'none') return []
    const names = text.split(',').map((name) => name.trim())
    const chosen = choices.filter((choice) => names.includes(choice))
    if (chosen.length !== names.length) throw new RangeError(allowed)
    return chosen.toSorted((one, other) => names.indexOf(one) - names.indexOf(other))
  })
}

export function listSetting(about: About, form: Form = ANY_TEXT): Setting<readonly string[]> {
  const what = form === ANY_TEXT ? 'a list' : `a list of ${form.allowed}`
  const allowed = `${what}, separated by commas`
  return setting(about, allowed, '', (text) => {
    const entries = text
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== '')
    if (!entries.every((entry) => form.isAllowed(entry))) throw new RangeError(allowed)
    return entries
  })
}

/**
 * A setting with a JSON object as text; a file may also contain the object itself. `parse` throws a `RangeError` that says what
 * is allowed.
 */
export function objectSetting<Value>(
  about: About,
  allowed: string,
  parse: (text: string) => Value,
): Setting<Value> {
  return setting(about, allowed, '{}', parse)
}

/** A setting with a database URL of one or several hosts, as in libpq. */
export function databaseUrlSetting(about: About): Setting<string | null> {
  const allowed = 'a URL with postgres:// or postgresql://'
  return setting(about, allowed, null, (text) => {
    if (!/^postgres(ql)?:\/\//.test(text)) throw new RangeError(allowed)
    try {
      parseDatabaseAddress(text)
    } catch (error) {
      throw new RangeError(`${allowed}: ${error instanceof Error ? error.message : ''}`, { cause: error })
    }
    return text
  })
}

export function urlSetting(about: About, protocols: readonly string[]): Setting<string | null> {
  const allowed = `a URL with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`
  return setting(about, allowed, null, (text) => {
    if (!URL.canParse(text) || !protocols.includes(new URL(text).protocol)) throw new RangeError(allowed)
    return text
  })
}

function setting<Value>(
  { environment, description, isSecret = false }: About,
  allowed: string,
  defaultText: string | null,
  parse: (text: string) => Value,
): Setting<Value> {
  return { environment, description, allowed, defaultText, isSecret, parse }
}
