/** Placing shares: the scheduler's rules with what is known of services, pools and the type. */
import type { Queries } from '#db/connection.ts';
import { shareServices } from '#db/services.ts';
import { hostsOfShares, type InstanceRow } from '#db/shareInstances.ts';
import { zonesOfShareNetwork } from '#db/shareNetworkSubnets.ts';
import { findShareType } from '#db/shareTypes.ts';
import { zonesOf } from '#domain/extraSpecs.ts';
import { isUp } from '#domain/services.ts';
import { DriverError } from '#drivers/driver.ts';
import { type Tools, TryAgain } from './job.ts';
import { HostStates, type PoolState, type ServiceEntry } from './scheduler/hostState.ts';
import { type SchedulerOptions, schedulerOptions } from './scheduler/options.ts';
import type { ScheduleRequest, SchedulerHints } from './scheduler/request.ts';
import { type GroupRequest, type Outcome, schedule, scheduleGroup } from './scheduler/schedule.ts';

/** Runs, half a second apart, in which a share waits for back ends to report. */
export const PATIENT_ATTEMPTS = 15;

/** Chooses pools, and remembers what it placed until the back ends report it themselves. */
export class Placer {
  readonly #states = new HostStates();
  readonly #options: SchedulerOptions;
  readonly #tools: Tools;

  /** Throws SchedulerConfigurationError on an unknown filter or weigher. */
  constructor(tools: Tools) {
    this.#tools = tools;
    this.#options = schedulerOptions(tools.settings);
  }

  /**
   * Places by the last reports. While a service that is up has not reported (it, or Redis, has just started), and
   * `patience` is left, a refusal for want of back ends is TryAgain instead.
   */
  async place(request: ScheduleRequest, patience = false): Promise<Outcome> {
    const outcome = await this.#decide((pools) => schedule(request, pools, this.#options), patience);
    if (!outcome.refused) this.#states.consume(outcome.host, request.size, Date.now());
    return outcome;
  }

  /** As `place`, for a share group: it takes no room itself. */
  placeGroup(request: GroupRequest, patience = false): Promise<Outcome> {
    return this.#decide((pools) => scheduleGroup(request, pools, this.#options), patience);
  }

  async #decide(choose: (pools: PoolState[]) => Outcome, patience: boolean): Promise<Outcome> {
    const { db, reports, settings, log } = this.#tools;
    const [services, reported] = await Promise.all([shareServices(db), reports()]);
    const at = Date.now();
    this.#states.refresh(
      services.map(
        (service): ServiceEntry => ({
          service: {
            host: service.host,
            availabilityZone: service.availability_zone,
            up: isUp(service, settings.service_down_time, at),
            disabled: service.disabled,
          },
          report: reported.find(({ host }) => host === service.host) ?? null,
        }),
      ),
    );
    const outcome = choose(this.#states.pools());
    for (const warning of outcome.warnings)
      log('warn', 'a function of a back end could not be used', { warning });
    if (patience && outcome.refused && outcome.detail === 'shareBackendNotReadyYet') {
      const silent = services.find(
        (service) =>
          isUp(service, settings.service_down_time, at) &&
          !reported.some(({ host }) => host === service.host),
      );
      if (silent) throw new TryAgain(`${silent.host} has not reported yet`);
    }
    return outcome;
  }
}

/** The placer of this process; jobs that place run where the scheduler's role is. */
export function placerOf({ placer }: Tools): Placer {
  if (!placer) throw new DriverError('failed', 'this worker has not the role of a scheduler');
  return placer;
}

/** What an instance asks of the scheduler, whatever the reason; `size` is in GiB. */
export async function requestFor(
  db: Queries,
  instance: InstanceRow,
  size: number,
): Promise<Omit<ScheduleRequest, 'kind'>> {
  const type =
    instance.shareTypeId === null ? undefined : await findShareType(db, instance.shareTypeId, null);
  return {
    id: instance.id,
    size,
    protocol: instance.protocol,
    shareType: type ? { name: type.name, extraSpecs: type.extra_specs } : null,
    availabilityZone: instance.availabilityZone,
    availabilityZones: await zonesFor(db, instance, type?.extra_specs ?? {}),
    qos: instance.qosSpecs,
    share: {
      size: instance.size,
      share_proto: instance.protocol,
      project_id: instance.projectId,
      share_type_id: instance.shareTypeId,
    },
  };
}

/** The zones that the type, and the subnets of the share network, leave; null when any will do. */
async function zonesFor(
  db: Queries,
  { shareNetworkId }: InstanceRow,
  specs: Readonly<Record<string, string | null>>,
): Promise<readonly string[] | null> {
  const ofType = zonesOf(specs);
  const ofNetwork = shareNetworkId === null ? null : await zonesOfShareNetwork(db, shareNetworkId);
  if (ofType === null || ofNetwork === null) return ofType ?? ofNetwork;
  return ofType.filter((zone) => ofNetwork.includes(zone));
}

/** Hints name shares; the scheduler compares hosts. */
export async function resolveHints(
  db: Queries,
  hints: Readonly<Record<string, string>>,
): Promise<SchedulerHints> {
  const hostsOf = (ids: string) =>
    hostsOfShares(
      db,
      ids.split(',').map((id) => id.trim()),
    );
  return {
    ...(hints.same_host ? { sameHost: await hostsOf(hints.same_host) } : {}),
    ...(hints.different_host ? { differentHost: await hostsOf(hints.different_host) } : {}),
    ...(hints.only_host ? { onlyHost: hints.only_host } : {}),
  };
}
