"""An organization in three files as people write them: comments, quotes, both styles of lists, odd indentation."""

from __future__ import annotations

ROOT = """\
# The platform team's file.
apiVersion: tenancy/v1alpha1
kind: Organization
name: acme
clusters:
    train:
        scheduler: kueue     # nothing else yet
        versions: {kubernetes: "1.36", kueue: '0.19'}
flavors:
    h100:
        gpu: H100-SXM-80GB
        nodes: 4
        node: {gpus: 8, cpu: 192, memory: 2000Gi}
        daemons: {cpu: 2, memory: 4Gi}
        price: 3.20
    mig:
        gpu: A100-SXM4-80GB
        nodes: 2
        node: {gpus: 8, cpu: 128, memory: 1000Gi}
        daemons: {cpu: 2, memory: 4Gi}
        mig: {3g.40gb: 1, 2g.20gb: 1, 1g.10gb: 2}
    cpu:
        nodes: 4
        node: {cpu: 64, memory: 256Gi}
        daemons: {cpu: 2, memory: 4Gi}
priorities: {production: 1000, research: 100}
departments:
    research:
        file: departments/research.yaml
    product:
        budget:
            h100: {quota: 8}   # the launch
            mig: {1g.10gb: 8, 2g.20gb: 4}
            cpu: {cpu: 60, memory: 240Gi}
        teams:
            search:
                budget:
                    h100: {reserved: 2, quota: 6, limit: 10}
                    mig: {1g.10gb: 8}
                access:
                    members:
                    - "group:search"
                    - "serviceaccount:research-vision/ci"
                network: {egress: {services: [research-vision/registry:443]}}
"""
RESEARCH = """\
---
apiVersion: tenancy/v1alpha1
kind: Departments

departments:
  research:
    displayName: "Research"
    budget:
      h100: 21
      mig: {1g.10gb: 12}
      # cpu follows in spring
    teams:
      vision:
        # asked for by the board
        budget:
          h100: 12
        access: {members: ["group:vision"], serviceAccounts: [ci]}
      speech:
        budget:
          h100: {quota: 4}
        projects:
          train: {}
          demo:
            expires: 2027-03-31
"""
ROBOTS = """\
apiVersion: tenancy/v1alpha1
kind: Departments
parent: research
departments:
  robots:
    budget: {h100: 5}
    teams:
      arms: {budget: {h100: share}}
      legs: {budget: {h100: share}, weight: 3}
      hands: {budget: {h100: 1}, namespace: hands}
"""
FILES = {"org/org.yaml": ROOT, "org/departments/research.yaml": RESEARCH, "org/departments/robots.yaml": ROBOTS}
