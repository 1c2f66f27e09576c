import { setTimeout as delay } from 'node:timers/promises'
import type { Output } from '../output/terminal.ts'
import { openBrowser } from '../output/open-browser.ts'
import { printable } from '../output/printable.ts'
import { DEVICE_CODE_GRANT, oauthFailure, postForm, signedInOf, type SignedIn } from './oauth-client.ts'

const INTERVAL_SECONDS = 5
const INTERVAL_SECONDS_MAX = 120
const SLOWER_SECONDS = 5
const LIFE_SECONDS_MAX = 3600

/** Shows a code, and waits until a person has entered and approved it in the console. */
export async function signInByDevice(
  baseUrl: string,
  { output, mayOpenBrowser }: { output: Output; mayOpenBrowser: boolean },
): Promise<SignedIn> {
  const started = await postForm(baseUrl, '/oauth/device_authorization', {})
  if (started.status !== 200) throw oauthFailure(started)
  const { device_code: deviceCode, user_code: userCode, verification_uri: page } = started.body
  const link = started.body['verification_uri_complete']
  output.note(`Open ${printable(String(page))} and enter the code`)
  output.note('')
  output.note(`    ${printable(String(userCode))}`)
  output.note('')
  output.note('Sign in there as yourself, and approve it only if the code is the same.')
  if (mayOpenBrowser && typeof link === 'string') openBrowser(link)
  let seconds = bounded(started.body['interval'], INTERVAL_SECONDS, INTERVAL_SECONDS_MAX)
  const endsAtMs = Date.now() + bounded(started.body['expires_in'], LIFE_SECONDS_MAX, LIFE_SECONDS_MAX) * 1000
  for (;;) {
    await delay(seconds * 1000)
    const fields = { grant_type: DEVICE_CODE_GRANT, device_code: String(deviceCode) }
    const answer = await postForm(baseUrl, '/oauth/token', fields)
    if (answer.status === 200) return signedInOf(baseUrl, answer)
    const { error } = answer.body
    const isWaiting = error === 'authorization_pending' || error === 'slow_down'
    if (!isWaiting || Date.now() > endsAtMs) throw oauthFailure(answer)
    if (error === 'slow_down') seconds = Math.min(seconds + SLOWER_SECONDS, INTERVAL_SECONDS_MAX)
  }
}

function bounded(value: unknown, usual: number, max: number): number {
  return typeof value === 'number' && value > 0 ? Math.min(value, max) : usual
}
