import { readProfiles, writeProfiles, type Profile } from '../profile/profile-file.ts'
import { withProfileLock } from '../profile/profile-lock.ts'
import { oauthFailure, postForm, signedInOf } from './oauth-client.ts'

/** A token that expires this soon is replaced, because a command needs it for a while. */
const FRESH_MS_MIN = 5 * 60_000

/**
 * Replaces the access token of a profile that a person signed in, if it expires soon. One process at a time does that, because a refresh
 * token works once; the others find what it has written.
 */
export async function freshenProfile(path: string, name: string): Promise<void> {
  if (!isStale(readProfiles(path).profiles[name])) return
  await withProfileLock(path, async () => {
    const before = readProfiles(path).profiles[name]
    if (before === undefined || !isStale(before)) return
    const { base_url: baseUrl, grant } = before
    if (grant === undefined) return
    const fields = { grant_type: 'refresh_token', refresh_token: grant.refresh_token }
    const answer = await postForm(baseUrl, '/oauth/token', fields)
    if (answer.status !== 200) throw oauthFailure(answer)
    const {
      access_token: token,
      refresh_token: refreshToken,
      expires_at: expiresAt,
    } = signedInOf(baseUrl, answer)
    const { current, profiles } = readProfiles(path)
    const fresh = { ...before, api_key: token, grant: { refresh_token: refreshToken, expires_at: expiresAt } }
    writeProfiles(path, { current, profiles: { ...profiles, [name]: fresh } })
  })
}

function isStale(profile: Profile | undefined): boolean {
  return profile?.grant !== undefined && profile.grant.expires_at - Date.now() < FRESH_MS_MIN
}
