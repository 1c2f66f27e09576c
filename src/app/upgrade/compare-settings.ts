import type { Finding } from '../doctor/finding.ts'
import { toSnakeCase } from '../settings/config.ts'
import { SETTINGS } from '../settings/settings.ts'
import type { Setting } from '../settings/setting.ts'

/** Compares the settings of this release with what `parkway config check` of another one printed. */
export function compareSettings(printed: string): Finding[] {
  const others = new Set(
    [...printed.matchAll(/^ {2}([a-z][a-z0-9_]*) {2,}\S|^ {2}([a-z][a-z0-9_]{31,}) /gm)].map(
      ([, short, long]) => short ?? long ?? '',
    ),
  )
  others.delete('providers')
  if (others.size === 0) return [unreadable]
  const own = new Map(
    Object.entries<Setting<unknown>>(SETTINGS).map(([name, { environment, defaultText }]) => [
      toSnakeCase(name),
      { environment, defaultText },
    ]),
  )
  const gone: Finding[] = [...others]
    .filter((name) => !own.has(name))
    .map((name) => ({
      code: 'setting_gone',
      level: 'warning',
      subject: name,
      message: 'The running release has this setting, and this one does not.',
      mend: 'CHANGELOG.md says what to use instead.',
    }))
  const added: Finding[] = [...own]
    .filter(([name]) => !others.has(name))
    .map(([name, { environment, defaultText }]) => ({
      code: 'setting_new',
      level: 'info',
      subject: name,
      message: `${environment} is new; its default is ${defaultText ?? 'none'}.`,
      mend: 'docs/configuration.md says what it does.',
    }))
  return [...gone, ...added]
}

const unreadable: Finding = {
  code: 'settings_unreadable',
  level: 'warning',
  subject: null,
  message: 'The file has no list of settings.',
  mend: 'Write it with the running release: `parkway config check > settings.txt`.',
}
