import { toSnakeCase } from '../../src/app/settings/config.ts'
import { PROVIDER_VARIABLES } from '../../src/app/settings/provider-settings.ts'
import type { Setting } from '../../src/app/settings/setting.ts'
import { SETTINGS } from '../../src/app/settings/settings.ts'

/** Renders the table of all settings for the documentation. */
export function renderSettings(): string {
  const rows = Object.entries<Setting<unknown>>(SETTINGS).map(([name, setting]) => [
    code(toSnakeCase(name)),
    code(setting.environment),
    setting.defaultText ? code(setting.defaultText) : '',
    escapeMarkup(setting.allowed),
    escapeMarkup(setting.description, '|') + (setting.isSecret ? ' Secret.' : ''),
  ])
  return renderTable(['in the file', 'environment', 'default', 'allowed', 'meaning'], rows)
}

/** Renders the table of the environment variables of providers. */
export function renderProviders(): string {
  const rows = PROVIDER_VARIABLES.map(({ id, apiKey, secretKey, baseUrl, signIn = [] }) => [
    code(id),
    [
      [...apiKey, signIn].flat().map(code).join(', '),
      ...(secretKey === undefined ? [] : [code(secretKey)]),
    ].join(' + '),
    baseUrl.map(code).join(', '),
  ])
  return renderTable(['provider', 'keys', 'address'], rows)
}

function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`)
  return lines.join('\n').replace(/\| ---.*/, `|${'---|'.repeat(head.length)}`)
}

function code(text: string): string {
  return `\`${text}\``
}

function escapeMarkup(text: string, characters = '|<'): string {
  return text.replace(/[|<]/g, (character) => (characters.includes(character) ? `\\${character}` : character))
}
