/** Network plug-ins: where share servers get their ports. The operator names one for each section. */
import { NetworkError, type NetworkPlugin, type PortLabel, type PortStore } from '#domain/network.ts';
import { StandaloneNetwork } from './standalone/index.ts';
import { readStandalone, type StandaloneOptions } from './standalone/settings.ts';

export interface NetworkOptions extends StandaloneOptions {
  network_api_class: string | null;
}

/** A section of the configuration, and whose network it describes. */
export interface NetworkSection {
  section: string;
  options: NetworkOptions;
  label: PortLabel;
}

const standalone = /^(standalone|manila\.network\.standalone_network_plugin\.StandaloneNetworkPlugin)$/;

/** The plug-in that a section asks for. Throws badConfiguration naming the section and the option. */
export function createNetworkPlugin(
  { section, options, label }: NetworkSection,
  store: PortStore,
): NetworkPlugin {
  const named = options.network_api_class;
  const byDefault = named === null && options.standalone_network_plugin_gateway !== null;
  if (byDefault || standalone.test(named ?? ''))
    return new StandaloneNetwork(readStandalone(section, options), label, store);
  throw new NetworkError(
    'badConfiguration',
    `[${section}] network_api_class = ${named ?? ''}: standalone is what there is`,
  );
}
