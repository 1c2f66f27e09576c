import type { Asked } from '../organization/join-account.ts'
import type { BreakingFleet } from './breaking-fleet.ts'

/** Sends requests that manage an account to any of the gateways. */
export function askGateway({ pickGateway }: Pick<BreakingFleet, 'pickGateway'>, key: string): Asked {
  return {
    key,
    request: async (method, path, { key: other = key, body, headers = {} } = {}) => {
      const { url } = await pickGateway()
      const response = await fetch(url + path, {
        method,
        headers: {
          ...(other === null ? {} : { authorization: `Bearer ${other}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return { status: response.status, headers: response.headers, body: await response.json() }
    },
  }
}
