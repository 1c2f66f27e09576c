/** The operations of OAuth, with which tools and programs get access tokens, and those on signed-in tools. */
export const OAUTH_NOTES: Readonly<Record<string, string>> = {
  'GET /.well-known/oauth-authorization-server':
    'RFC 8414. The addresses begin with the public URL of the gateway, or with the address that was asked.',
  'POST /oauth/device_authorization':
    'RFC 8628. Any `client_id` of 1 to 200 printable characters is taken. The codes live ten minutes, at most 30 wait for one address.',
  'POST /oauth/token':
    'Takes a form, `application/x-www-form-urlencoded`. A field must not occur twice, unknown fields are ignored, and one without a value counts as absent. ' +
    'Errors are those of RFC 6749 and RFC 8628. Access tokens live an hour. A refresh token works once and gets the next one; for 30 seconds it gets the same one ' +
    'again, so that two processes of a tool may refresh at once. After that, or once the next one was used, it signs the tool out, because somebody may have ' +
    'stolen it. A tool is signed out after 30 days without use, and after 90 days in any case. `invalid_grant` with 401: the refresh token is refused, and the person has to sign in again.',
  'POST /oauth/revoke':
    'RFC 7009. A refresh token signs its tool out; an access token ends alone. An unknown token is no error.',
  'POST /v1/device-authorizations/find':
    'For the page `/device`: only the session of a person may ask. Ten wrong codes in ten minutes are allowed.',
  'POST /v1/device-authorizations/approve':
    'Only the session of a person may approve, never a key or a token. The tool then works for the person in the project, with their roles, and makes no keys, ' +
    'gives no rights and moves no money.',
  'POST /v1/device-authorizations/deny': 'The tool is told `access_denied`.',
  'GET /v1/grants': 'At most the 200 newest.',
  'DELETE /v1/grants/{id}':
    'Its tokens are refused everywhere within a second, and its running requests end.',
}
