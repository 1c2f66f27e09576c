import { clientCommand } from '../client-command.ts'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import { profilePath, readProfiles, writeProfiles } from '../profile/profile-file.ts'

export const logout = clientCommand({
  name: 'logout',
  summary: 'Forget the key of a profile. The key itself stays valid.',
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
    const { [name]: _, ...others } = profiles
    const next = current === name ? (Object.keys(others)[0] ?? null) : current
    writeProfiles(path, { current: next, profiles: others })
    if (isJson) return printJson({ profile: name, current: next })
    output.line(`Signed out of ${name}.${next === null ? '' : ` The current profile is ${next}.`}`)
  },
})
