import { randomBytes } from 'node:crypto'
import { json } from '../openai-server.ts'
import {
  startScriptedServer,
  type RecordedRequest,
  type ScriptedReply,
  type ScriptedServer,
} from '../scripted-server.ts'

/** A local server that issues tokens, and knows which of them are valid. */
export interface TokenServer extends ScriptedServer {
  /** Whether the header carries a token that was issued, for that audience, and has not been revoked. */
  accepts(authorization: string | undefined, audience: string): boolean
  revokeAll(): void
  /** The next requests wait until the returned function is called. */
  hold(): () => void
}

interface TokenServerOptions {
  /** Returns the audience of the token, or why the request is refused. */
  readonly check: (
    request: RecordedRequest,
  ) => { readonly audience: string } | { readonly refused: ScriptedReply }
  /** How the answer names the token. */
  readonly answer: (token: string) => object
}

export async function startTokenServer({ check, answer }: TokenServerOptions): Promise<TokenServer> {
  const issued = new Map<string, string>()
  let held: Promise<void> = Promise.resolve()
  const server = await startScriptedServer(async (request) => {
    await held
    const checked = check(request)
    if ('refused' in checked) return checked.refused
    const token = `tok-${randomBytes(24).toString('base64url')}`
    issued.set(token, checked.audience)
    return json(answer(token))
  })
  return {
    ...server,
    requests: server.requests,
    accepts: (authorization, audience) => {
      const token = /^Bearer (\S+)$/.exec(authorization ?? '')?.[1]
      return token !== undefined && issued.get(token) === audience
    },
    revokeAll: () => issued.clear(),
    hold: () => {
      let release = () => {}
      held = new Promise((resolve) => {
        release = resolve
      })
      return release
    },
  }
}
