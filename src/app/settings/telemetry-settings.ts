import { choiceSetting, listSetting, shareSetting, textSetting, urlSetting } from './setting.ts'

/** Settings of traces, and of what agents export. */
export const TELEMETRY_SETTINGS = {
  otlpEndpoint: urlSetting(
    {
      environment: 'OTEL_EXPORTER_OTLP_ENDPOINT',
      description: 'Where OpenTelemetry traces are sent; off without it.',
    },
    ['http:', 'https:'],
  ),
  otlpHeaders: listSetting({
    environment: 'OTEL_EXPORTER_OTLP_HEADERS',
    description: 'Headers for the trace exporter, as `name=value`.',
    isSecret: true,
  }),
  agentOtlpEndpoint: urlSetting(
    {
      environment: 'PARKWAY_AGENT_OTLP_ENDPOINT',
      description: 'The collector that gets what agents such as Claude Code export; off without it.',
    },
    ['http:', 'https:'],
  ),
  agentOtlpHeaders: listSetting({
    environment: 'PARKWAY_AGENT_OTLP_HEADERS',
    description: 'Headers for that collector, as `name=value`.',
    isSecret: true,
  }),
  traceShare: shareSetting(
    {
      environment: 'OTEL_TRACES_SAMPLER_ARG',
      description: 'The share of the traces begun here that is kept. The sampling of a client is followed.',
    },
    1,
  ),
  resourceAttributes: listSetting({
    environment: 'OTEL_RESOURCE_ATTRIBUTES',
    description: 'Further attributes of this process in traces, as `name=value`.',
  }),
  traceReceivers: choiceSetting(
    {
      environment: 'PARKWAY_FORWARD_TRACEPARENT',
      description:
        'Which upstreams are told the trace of a request (`traceparent`): servers of your own, all that speak the OpenAI wire, or none.',
    },
    ['own', 'all', 'none'],
    'own',
  ),
  serviceName: textSetting(
    { environment: 'OTEL_SERVICE_NAME', description: 'The name of this service in traces.' },
    'parkway',
  ),
} as const
