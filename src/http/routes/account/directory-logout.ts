import { Type } from 'typebox'
import { AppError } from '../../../kernel/app-error.ts'
import { SignInProblem, type Directory } from '../../../modules/directory/directory.ts'
import { NO_KEY } from '../../access.ts'
import type { UnauthenticatedGuard } from '../../connections/guard-unauthenticated.ts'
import { defineRoute, type Route } from '../../route.ts'

interface DirectoryLogoutOptions {
  readonly directory: Directory
  readonly guard: Pick<UnauthenticatedGuard, 'countSignIn'>
}

const Params = Type.Object({
  id: Type.String({ maxLength: 100, description: 'The id of an identity provider.' }),
})

const LogoutQuery = Type.Object({
  iss: Type.String({ minLength: 1, maxLength: 500, description: 'The issuer of the provider.' }),
  sid: Type.String({ minLength: 1, maxLength: 255, description: 'The session at the provider.' }),
})

const LOGOUT_BYTES_MAX = 32 * 1024

/** An identity provider ends the sessions that began with it. */
export const directoryLogoutRoutes = ({ directory, guard }: DirectoryLogoutOptions): Route[] => [
  defineRoute({
    tag: 'Sessions',
    method: 'POST',
    path: '/v1/sessions/directory/:id/logout',
    summary: 'End sessions by a logout token',
    access: NO_KEY,
    params: Params,
    takesRawBody: true,
    bodyLimitBytes: LOGOUT_BYTES_MAX,
    otherErrors: [400, 404, 503],
    responses: { 200: { description: 'The sessions have ended, on every process.' } },
    handle: async ({ params, rawBody, exchange, reply }) => {
      const token = new URLSearchParams(rawBody.toString('utf8')).get('logout_token')
      if (token === null)
        throw new AppError('missing_required_parameter', '`logout_token` is required, as a form.', {
          param: 'logout_token',
        })
      await guard
        .countSignIn(exchange.incoming, () => directory.endByToken(params.id, token))
        .catch((error: unknown) => {
          if (error instanceof SignInProblem)
            throw new AppError(
              'service_unavailable',
              'The keys of the provider cannot be read at the moment.',
              {
                cause: error,
              },
            )
          throw error
        })
      reply.code(200).header('cache-control', 'no-store').send()
    },
  }),
  defineRoute({
    tag: 'Sessions',
    method: 'GET',
    path: '/v1/sessions/directory/:id/logout',
    summary: 'End the session of a frame',
    access: NO_KEY,
    params: Params,
    query: LogoutQuery,
    otherErrors: [404],
    responses: {
      200: {
        description: 'An empty page for a frame of the provider. The sessions have ended, if there were any.',
        schema: Type.String(),
        contentType: 'text/html',
      },
    },
    handle: async ({ params, query, reply }) => {
      const { origin } = await directory.endBySession(params.id, query.iss, query.sid)
      reply
        .header('cache-control', 'no-store')
        .header('content-security-policy', `default-src 'none'; frame-ancestors ${origin}`)
        .type('text/html; charset=utf-8')
        .send('<!doctype html><title>Signed out</title>')
    },
  }),
]
