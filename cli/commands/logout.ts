import { clientCommand } from '../client-command.ts'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import { postForm } from '../sign-in/oauth-client.ts'
import { profilePath, readProfiles, writeProfiles, type Profile } from '../profile/profile-file.ts'

export const logout = clientCommand({
  name: 'logout',
  summary: 'Sign out of a profile. A key is forgotten and stays valid; a sign-in in the browser ends.',
  example: 'parkway logout --profile work',
  async act({ output, isJson, profile, printJson }) {
    const path = profilePath(process.env)
    const { current, profiles } = readProfiles(path)
    const name = profile ?? (process.env.PARKWAY_PROFILE || current)
    if (name === null || profiles[name] === undefined)
      throw new CommandFailure(
        EXIT.notSignedIn,
        name === null ? 'You are not signed in.' : `There is no profile "${name}".`,
      )
    const { [name]: left, ...others } = profiles
    const next = current === name ? (Object.keys(others)[0] ?? null) : current
    writeProfiles(path, { current: next, profiles: others })
    const isEnded = await endGrant(left)
    if (!isEnded) output.note('The gateway did not answer: sign the tool out in the console too.')
    if (isJson) return printJson({ profile: name, current: next })
    output.line(`Signed out of ${name}.${next === null ? '' : ` The current profile is ${next}.`}`)
  },
})

/** Revokes what a person signed in. Returns false if the gateway does not say so; the profile is forgotten in any case. */
async function endGrant(profile: Profile | undefined): Promise<boolean> {
  if (profile?.grant === undefined) return true
  const { base_url: baseUrl, grant } = profile
  return postForm(baseUrl, '/oauth/revoke', { token: grant.refresh_token }).then(
    ({ status }) => status === 200,
    () => false,
  )
}
