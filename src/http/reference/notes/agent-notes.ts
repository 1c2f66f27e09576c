/** Descriptions of the operations of agents, and of those who set what agents may do, by method and path. */
export const AGENT_NOTES: Readonly<Record<string, string>> = {
  'GET /managed/settings':
    'Returns the settings that the account gives agents such as Claude Code: those of everybody, and over them those of the groups of the caller. Objects are merged member by member, lists that deny something are joined, everything else is replaced. 404 where there is no policy. Claude Code asks at its start and about once an hour.',
  'POST /v1/metrics':
    'Takes OTLP metrics of an agent, as protobuf or JSON, plain or with gzip, up to 4 MiB and 16 MiB unpacked; others are answered with 200 and `partialSuccess`. They are counted for the person, and go on to the collector of the operator, if there is one, with who sent them and without the key. The answer does not wait for that.',
  'POST /v1/logs':
    'Takes OTLP logs of an agent, like its metrics. Those of an account or project with zero data retention go no further.',
  'POST /v1/traces':
    'Takes OTLP traces of an agent, like its metrics. Those of an account or project with zero data retention go no further.',
  'GET /v1/organization/agent_telemetry':
    'Lists the people whose agents exported OTLP in the last days, and how much. Exports count for the person whose key or token they came with; those of keys of the account and of service accounts for nobody. Counts are kept for 90 days.',
  'GET /v1/organization/managed_settings':
    'Lists the settings that the account gives the agents of its people, for everybody and for groups.',
  'GET /v1/organization/users/{user_id}/managed_settings':
    'Returns what the agents of a person get at `GET /managed/settings`, and of which managed settings it was made.',
  'POST /v1/organization/managed_settings':
    'Sets the managed settings for everybody, or for one group, in the place of what was there. They can run programs on the machines of those who get them, so a session has to be confirmed. The audit log tells which members were set, not their values. At most 50 of an account.',
  'DELETE /v1/organization/managed_settings/{managed_settings_id}':
    'Deletes the managed settings for everybody or for one group. Agents drop them when they ask again.',
  'GET /v1/organization/projects/{project_id}/trusted_issuers':
    'Lists the issuers whose tokens become tokens of service accounts of the project, with their rules.',
  'POST /v1/organization/projects/{project_id}/trusted_issuers':
    'Trusts an issuer: a CI system, a cluster, a provider of identities. Whoever has a token of it that fits a rule gets a token of the service account that the rule names, at `POST /oauth/token`. The caller has to be able to give what the service account has. At most 20 of a project.',
  'POST /v1/organization/projects/{project_id}/trusted_issuers/{issuer_id}':
    'Changes what is trusted. Absent members stay; `rules` replaces all of them.',
  'DELETE /v1/organization/projects/{project_id}/trusted_issuers/{issuer_id}':
    'Removes an issuer. Access tokens that were made with its tokens expire within an hour; delete the service account to end them now.',
}
