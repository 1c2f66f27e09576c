import type { components, paths } from '../../../api-types/generated/gateway-api.ts'
import type { GatewayClient } from '../../api/gateway-client.ts'
import { CommandFailure } from '../../command-failure.ts'
import { EXIT } from '../../exit-codes.ts'

export type TrustedIssuer = components['schemas']['TrustedIssuer']
export type IssuerBody =
  paths['/v1/organization/projects/{project_id}/trusted_issuers']['post']['requestBody']['content']['application/json']

export const inProject = (projectId: string) => ({ params: { path: { project_id: projectId } } })

export const ofIssuer = (projectId: string, id: string) => ({
  params: { path: { project_id: projectId, issuer_id: id } },
})

export async function issuersOf(gateway: GatewayClient, projectId: string): Promise<TrustedIssuer[]> {
  const { data } = await gateway.call((routes) =>
    routes.GET('/v1/organization/projects/{project_id}/trusted_issuers', inProject(projectId)),
  )
  return data
}

/** The API has no route for one issuer, because a project has at most a few. */
export async function findIssuer(
  gateway: GatewayClient,
  projectId: string,
  id: string,
): Promise<TrustedIssuer> {
  const found = (await issuersOf(gateway, projectId)).find((trusted) => trusted.id === id)
  if (found === undefined) throw new CommandFailure(EXIT.notFound, `The project trusts no issuer ${id}.`)
  return found
}
