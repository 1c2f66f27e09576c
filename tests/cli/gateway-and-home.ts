import { afterAll } from 'vitest'
import type { TestGateway } from '../support/start-test-gateway.ts'
import { createHome, signIn, type Home } from './run-parkway.ts'

/** Starts a gateway and creates a home that is signed in to it. Both are removed after the tests of the file. */
export async function startGatewayAndHome<Gateway extends Pick<TestGateway, 'baseUrl' | 'key' | 'close'>>(
  start: () => Promise<Gateway>,
  { isSignedIn = true } = {},
): Promise<{ readonly gateway: Gateway; readonly home: Home }> {
  const gateway = await start()
  const home = await createHome()
  afterAll(async () => {
    await home.remove()
    await gateway.close()
  })
  if (isSignedIn) await signIn(home, gateway)
  return { gateway, home }
}
