// SPDX-License-Identifier: GPL-2.0
/*
 * csigctl qcn show: ports with all that they have of QCN.
 */
#include <stdlib.h>

#include "output.h"
#include "qcn.h"

int qcn_show(struct args *a)
{
	const char *dev = NULL;
	struct qcn_port_info *v;
	size_t i, n;
	int status;

	if (a->argc && (arg_dev(a, &dev) || arg_end(a)))
		return ST_USAGE;
	status = qcn_ports(dev, &v, &n);
	if (!status)
		status = qcn_tc_read(v, n);
	if (status) {
		free(v);
		return status;
	}
	out_open_array(NULL);
	for (i = 0; i < n; i++) {
		out_open_object(NULL);
		out_str("ifname", "%s:", v[i].ifname);
		out_u64("ifindex", " ifindex %" PRIu64 "\n", v[i].ifindex);
		out_open_object("domain");
		print_qcn_domain(&v[i]);
		out_close_object();
		print_qcn_points(i, v[i].ifindex);
		out_close_object();
	}
	out_close_array();
	qcn_tc_free();
	free(v);
	return ST_OK;
}
