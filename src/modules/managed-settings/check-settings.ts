import { invalidValue } from '../../kernel/app-error.ts'
import { isRecord } from '../../kernel/is-record.ts'
import type { Settings } from './merge-settings.ts'

export const SETTINGS_BYTES_MAX = 32 * 1024
const DEPTH_MAX = 16

/** Throws for settings that are too large, nested too deep, or have a member that programs would take for something else. */
export function checkSettings(settings: Settings): void {
  if (Buffer.byteLength(JSON.stringify(settings)) > SETTINGS_BYTES_MAX)
    throw invalidValue('settings', `settings may have at most ${SETTINGS_BYTES_MAX} bytes as JSON.`)
  checkMembers(settings, 1)
}

function checkMembers(value: unknown, depth: number): void {
  if (depth > DEPTH_MAX)
    throw invalidValue('settings', `settings may be nested at most ${DEPTH_MAX} levels deep.`)
  if (Array.isArray(value)) for (const entry of value) checkMembers(entry, depth + 1)
  else if (isRecord(value))
    for (const [name, member] of Object.entries(value)) {
      if (name === '__proto__') throw invalidValue('settings', 'settings may have no member `__proto__`.')
      checkMembers(member, depth + 1)
    }
}
