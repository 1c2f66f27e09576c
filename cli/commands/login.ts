import { clientCommand } from '../client-command.ts'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import { readLine } from '../input/read-stdin.ts'
import { formatUsd } from '../output/format-usd.ts'
import { DEFAULT_BASE_URL, toBaseUrl } from '../profile/find-connection.ts'
import { profilePath, readProfiles, writeProfiles, type Profile } from '../profile/profile-file.ts'
import { offersDeviceSignIn, type SignedIn } from '../sign-in/oauth-client.ts'
import { signInByDevice } from '../sign-in/sign-in-by-device.ts'

interface LoginOptions {
  readonly url?: string
  readonly key?: boolean
  readonly device?: boolean
}

const KEY_LENGTH_MAX = 500

export const login = clientCommand<LoginOptions>({
  name: 'login',
  summary: 'Sign in to a gateway: as a person in the browser, or with a key.',
  example: 'echo "$PARKWAY_API_KEY" | parkway login --url https://gateway.example.com',
  define: (command) =>
    command
      .option('--url <address>', `the address of the gateway (PARKWAY_BASE_URL, else ${DEFAULT_BASE_URL})`)
      .option('--key', 'sign in with a key, also where people can sign in in the browser')
      .option('--device', 'sign in in the browser, also without a terminal'),
  async act({ output, isJson, profile, printJson, connectTo }, { url, key, device }) {
    const name = profile ?? (process.env.PARKWAY_PROFILE || 'default')
    const baseUrl = toBaseUrl(url ?? (process.env.PARKWAY_BASE_URL || DEFAULT_BASE_URL))
    const isByDevice = device ?? (key !== true && process.stdin.isTTY && (await offersDeviceSignIn(baseUrl)))
    const mayOpenBrowser = process.stdin.isTTY && !process.env.SSH_CONNECTION
    const signedIn = isByDevice ? await signInByDevice(baseUrl, { output, mayOpenBrowser }) : null
    const apiKey = signedIn?.access_token ?? (await askForKey(baseUrl))
    const gateway = connectTo({ baseUrl, apiKey, profile: name })
    const isAddressGiven = url !== undefined || Boolean(process.env.PARKWAY_BASE_URL)
    const account = await gateway
      .call((routes) => routes.GET('/v1/tenants/me'))
      .catch((error: unknown) => {
        throw isAddressGiven ? error : withAddressHint(error)
      })
    const path = profilePath(process.env)
    const { profiles } = readProfiles(path)
    writeProfiles(path, {
      current: name,
      profiles: { ...profiles, [name]: { base_url: baseUrl, api_key: apiKey, ...grantOf(signedIn) } },
    })
    if (isJson) return printJson(account)
    output.line(`Signed in to ${baseUrl} as ${account.name} (profile ${name}).`)
    if (account.balance_usd !== null) output.line(`Balance: ${formatUsd(account.balance_usd)}`)
  },
})

function grantOf(signedIn: SignedIn | null): Pick<Profile, 'grant'> {
  if (signedIn === null) return {}
  return { grant: { refresh_token: signedIn.refresh_token, expires_at: signedIn.expires_at } }
}

/** A gateway with another `PORT` is the usual reason why none answers at the default address. */
function withAddressHint(error: unknown): unknown {
  if (!(error instanceof CommandFailure) || error.exitCode !== EXIT.gatewayAway) return error
  return new CommandFailure(
    error.exitCode,
    error.message,
    'Check that it runs. If it has another address or PORT, name it: parkway login --url http://127.0.0.1:9000',
  )
}

async function askForKey(baseUrl: string): Promise<string> {
  const key = process.stdin.isTTY ? await promptForKey(baseUrl) : await readLine(KEY_LENGTH_MAX)
  if (key === '') throw new CommandFailure(EXIT.usage, 'No API key was given.')
  return key
}

/** The key is not echoed, and not an argument, because arguments stay in the history of the shell. */
async function promptForKey(baseUrl: string): Promise<string> {
  const { isCancel, password } = await import('@clack/prompts')
  const answer = await password({ message: `API key for ${baseUrl}` })
  if (isCancel(answer)) throw new CommandFailure(EXIT.interrupted, 'Nothing was changed.')
  return answer.trim()
}
