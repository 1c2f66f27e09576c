import type { GatewayClient } from '../../api/gateway-client.ts'
import { clientCommand } from '../../client-command.ts'
import { requireConsent } from '../../input/confirm.ts'
import { parseDuration } from '../../input/parse-duration.ts'
import { printable } from '../../output/printable.ts'
import { profilePath, readProfiles, writeProfiles } from '../../profile/profile-file.ts'
import { withProfileLock } from '../../profile/profile-lock.ts'

interface RotateOptions {
  readonly overlap: string
  readonly yes?: boolean
}

export const rotate = clientCommand<RotateOptions>({
  name: 'rotate',
  summary: 'Give a key a new secret and print it. The old one works until the end of the overlap.',
  example: 'parkway keys rotate --overlap 24h 01a1e900-0fc9-7eff-b14c-dd4471e0969d',
  define: (command) =>
    command
      .argument('<key>', 'its id, not the key itself')
      .option(
        '--overlap <time>',
        'how long the old secret still works: 30m, 24h, 7d; 0 ends it at once',
        '24h',
      )
      .option('-y, --yes', 'do not ask'),
  async act({ output, isJson, connect, printJson }, { overlap, yes }, id = '') {
    const seconds = parseDuration('--overlap', overlap)
    const gateway = connect()
    const path = { params: { path: { id } } }
    const key = await gateway.call((routes) => routes.GET('/v1/tenants/me/api-keys/{id}', path))
    const ended = describeEnded(key, seconds)
    if (ended !== null) await requireConsent(printable(`${ended} Rotate "${key.name}"?`), yes === true)
    const account = await gateway.call((routes) => routes.GET('/v1/tenants/me'))
    const body = { overlap_seconds: seconds, end_former: key.former_key !== undefined }
    const rotated = await gateway.call((routes) =>
      routes.POST('/v1/tenants/me/api-keys/{id}/rotate', { ...path, body }),
    )
    if (isJson) printJson(rotated)
    else {
      const former = rotated.former_key
      output.note(
        printable(
          former === undefined
            ? `The old secret ${key.key_prefix} has ended.`
            : `The old secret ${former.key_prefix} works until ${former.ends_at}.`,
        ),
      )
      output.note('The new one is shown this once: keep it.')
      // Only the key is data, so that scripts can read it.
      output.line(printable(rotated.key))
    }
    if (account.key.id === id && (await keepInProfile(gateway, rotated.key)))
      output.note(`The profile "${gateway.connection.profile}" uses the new one.`)
  },
})

interface RotatedKey {
  readonly key_prefix: string
  readonly former_key?: { readonly key_prefix: string; readonly ends_at: string } | undefined
}

/** What stops working at once, as a sentence. Null if nothing does. */
function describeEnded(
  { key_prefix: prefix, former_key: former }: RotatedKey,
  seconds: number,
): string | null {
  if (seconds === 0) return `${prefix} is refused from then on.`
  if (former === undefined) return null
  return `${former.key_prefix}, the secret before the last rotation, would work until ${former.ends_at} and ends now.`
}

/** Writes the new secret to the profile that has the old one. A key of the environment is not ours to change. */
async function keepInProfile({ connection }: GatewayClient, key: string): Promise<boolean> {
  const { profile: name, apiKey } = connection
  if (name === null) return false
  const path = profilePath(process.env)
  return withProfileLock(path, async () => {
    const { current, profiles } = readProfiles(path)
    const profile = profiles[name]
    if (profile?.api_key !== apiKey) return false
    writeProfiles(path, { current, profiles: { ...profiles, [name]: { ...profile, api_key: key } } })
    return true
  })
}
