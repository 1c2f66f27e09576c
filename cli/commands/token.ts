import { clientCommand } from '../client-command.ts'

export const token = clientCommand({
  name: 'token',
  summary: 'Print an access token that works for at least five minutes, or the key of the profile.',
  example: 'curl -H "Authorization: Bearer $(parkway token)" https://gateway.example.com/v1/models',
  async act({ output, isJson, connect, printJson }) {
    const { apiKey } = connect().connection
    if (isJson) return printJson({ access_token: apiKey })
    output.line(apiKey)
  },
})
