import { clientCommand } from '../client-command.ts'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import { printTable } from '../output/tables/print-table.ts'
import { profilePath, readProfiles, writeProfiles } from '../profile/profile-file.ts'

interface ProfilesOptions {
  readonly use?: string
}

/** Enough of a key to recognise it, and too little to use it. */
const SHOWN_OF_KEY = 11

export const profiles = clientCommand<ProfilesOptions>({
  name: 'profiles',
  summary: 'List the profiles, or choose the current one.',
  example: 'parkway profiles --use work',
  define: (command) => command.option('--use <name>', 'make this profile the current one'),
  async act({ output, isJson, printJsonLines }, { use }) {
    const path = profilePath(process.env)
    const stored = readProfiles(path)
    if (use !== undefined && stored.profiles[use] === undefined)
      throw new CommandFailure(
        EXIT.notFound,
        `There is no profile "${use}".`,
        `Make it with "parkway login --profile ${use}".`,
      )
    const current = use ?? stored.current
    if (use !== undefined) writeProfiles(path, { ...stored, current: use })
    const rows = Object.entries(stored.profiles).map(([name, { base_url: baseUrl, api_key: key }]) => ({
      name,
      base_url: baseUrl,
      key_prefix: key.slice(0, SHOWN_OF_KEY),
      is_current: name === current,
    }))
    if (isJson) return printJsonLines(rows)
    if (rows.length === 0) return output.note('There are no profiles. Sign in with "parkway login".')
    printTable(
      output,
      [
        { title: 'profile', of: ({ name, is_current: isCurrent }) => `${isCurrent ? '* ' : '  '}${name}` },
        { title: 'gateway', of: (row) => row.base_url, rank: 2, isText: true },
        { title: 'key', of: (row) => `${row.key_prefix}…`, rank: 3 },
      ],
      rows,
    )
  },
})
