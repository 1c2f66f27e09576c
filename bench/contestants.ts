import { bare, floor } from './contestants/bare.ts'
import type { Contestant } from './contestants/contestant.ts'
import { litellm } from './contestants/litellm.ts'
import { nginx } from './contestants/nginx.ts'
import { parkway, parkwayFree } from './contestants/parkway.ts'
import { portkey } from './contestants/portkey.ts'

export const contestants: readonly Contestant[] = [parkway, parkwayFree, bare, floor, nginx, portkey, litellm]
