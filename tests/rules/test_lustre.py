"""What FSx accepts of a file system: wrong sizes, tiers and versions beside their valid neighbours."""

import pytest

from trainfeed.rules.lustre import GROWTH_RULES, RULES, LustreConfiguration, LustreGrowth
from trainfeed.rules.regions import LUSTRE_DEPLOYMENT_TYPES
from trainfeed.rules.rule import UNRESOLVED, check, refusal
from trainfeed.sources import S3Link, S3Uri

GIB = 2**30


def scratch(capacity=1200, **given):
    return LustreConfiguration(storage_capacity_gib=capacity, **given)


def scratch1(capacity=1200, **given):
    return scratch(capacity, deployment_type="SCRATCH_1", **given)


def persistent1(capacity=1200, tier=50, **given):
    return scratch(capacity, deployment_type="PERSISTENT_1", per_unit_storage_throughput=tier, **given)


def hdd(capacity=6000, tier=12, cache="NONE", **given):
    return persistent1(capacity, tier, storage_type="HDD", drive_cache_type=cache, **given)


def persistent2(capacity=1200, tier=125, **given):
    return scratch(capacity, deployment_type="PERSISTENT_2", per_unit_storage_throughput=tier, **given)


def tiering(capacity=None, throughput=4000, **given):
    return scratch(
        capacity,
        deployment_type="PERSISTENT_2",
        storage_type="INTELLIGENT_TIERING",
        throughput_capacity_mbps=throughput,
        **given,
    )


def efa(capacity=38400, tier=125, **given):
    given = {"metadata_mode": "AUTOMATIC", **given}
    return persistent2(capacity, tier, efa_enabled=True, **given)


LINK = S3Link(uri=S3Uri("bucket", "data"), path="/data")

CASES = [
    # Sizes of SCRATCH_2
    *((scratch(size), {}) for size in (1200, 2400, 4800, 7200, 100_800, 2400.0)),
    (
        scratch(3600),
        {"LUSTRE-CAPACITY": "3600 GiB does not exist. Allowed: 1200, then multiples of 2400 GiB"},
    ),
    (scratch(3600), {"LUSTRE-CAPACITY": "Choose 2400 or 4800."}),
    (scratch(10_800), {"LUSTRE-CAPACITY": "Choose 9600 or 12000."}),
    (scratch(1300), {"LUSTRE-CAPACITY": "Choose 1200 or 2400."}),
    (scratch(1200.5), {"LUSTRE-CAPACITY": "1200.5 GiB does not exist"}),
    (scratch(600), {"LUSTRE-CAPACITY": "Choose 1200."}),
    (scratch(0), {"LUSTRE-CAPACITY": "Choose 1200."}),
    (scratch(-2400), {"LUSTRE-CAPACITY": "-2400 GiB does not exist"}),
    (scratch(float("nan")), {"LUSTRE-CAPACITY": "Choose 1200."}),
    (scratch(float("inf")), {"LUSTRE-CAPACITY": "Choose 1200."}),
    (scratch(None), {"LUSTRE-CAPACITY": "needs a storage capacity"}),
    (scratch(UNRESOLVED), {}),
    # Sizes of SCRATCH_1
    *((scratch1(size), {}) for size in (1200, 2400, 3600, 7200, 10_800)),
    (scratch1(4800), {"LUSTRE-CAPACITY": "Choose 3600 or 7200."}),
    (scratch1(1800), {"LUSTRE-CAPACITY": "Choose 1200 or 2400."}),
    (scratch1(-1), {"LUSTRE-CAPACITY": "Choose 1200."}),
    # Sizes of PERSISTENT_1 and PERSISTENT_2 on SSD
    *((persistent1(size), {}) for size in (1200, 2400, 4800)),
    (persistent1(3600), {"LUSTRE-CAPACITY": "PERSISTENT_1 SSD file system of 3600 GiB"}),
    *((persistent2(size), {}) for size in (1200, 2400, 9600)),
    (persistent2(600), {"LUSTRE-CAPACITY": "Choose 1200."}),
    (persistent2(3600), {"LUSTRE-CAPACITY": "Choose 2400 or 4800."}),
    # Sizes of HDD
    *((hdd(size), {}) for size in (6000, 12_000, 60_000)),
    *((hdd(size, 40), {}) for size in (1800, 3600, 5400)),
    (hdd(1200), {"LUSTRE-CAPACITY": "multiples of 6000 GiB. Choose 6000."}),
    (hdd(9000), {"LUSTRE-CAPACITY": "Choose 6000 or 12000."}),
    (hdd(1800), {"LUSTRE-CAPACITY": "Choose 6000."}),
    (hdd(2400, 40), {"LUSTRE-CAPACITY": "Choose 1800 or 3600."}),
    (hdd(6000, 40), {"LUSTRE-CAPACITY": "Choose 5400 or 7200."}),
    # Intelligent-Tiering has a throughput and no size
    (tiering(), {}),
    (tiering(throughput=2_000_000), {}),
    (tiering(1200), {"LUSTRE-CAPACITY": "takes no capacity; 1200 GiB was given"}),
    (tiering(throughput=None), {"LUSTRE-INTELLIGENT-TIERING": "nothing was given"}),
    (tiering(throughput=6000), {"LUSTRE-INTELLIGENT-TIERING": "multiples of 4000 MB/s"}),
    (tiering(throughput=0), {"LUSTRE-INTELLIGENT-TIERING": "0 was given"}),
    (tiering(throughput=2_004_000), {"LUSTRE-INTELLIGENT-TIERING": "up to 2000000"}),
    (scratch(throughput_capacity_mbps=4000), {"LUSTRE-INTELLIGENT-TIERING": "Only Intelligent-Tiering"}),
    # Tiers
    *((persistent1(tier=tier), {}) for tier in (50, 100, 200)),
    *((persistent2(tier=tier), {}) for tier in (125, 250, 500, 1000)),
    (persistent1(tier=125), {"LUSTRE-THROUGHPUT-TIER": "Allowed: 50, 100, 200 MB/s per TiB."}),
    (persistent2(tier=50), {"LUSTRE-THROUGHPUT-TIER": "Allowed: 125, 250, 500, 1000 MB/s per TiB."}),
    (persistent1(tier=None), {"LUSTRE-THROUGHPUT-TIER": "none was given. Allowed: 50, 100, 200"}),
    (persistent2(tier=None), {"LUSTRE-THROUGHPUT-TIER": "none was given. Allowed: 125, 250, 500, 1000"}),
    (hdd(tier=50), {"LUSTRE-THROUGHPUT-TIER": "Allowed: 12, 40 MB/s per TiB."}),
    (persistent1(tier=12), {"LUSTRE-THROUGHPUT-TIER": "PERSISTENT_1 SSD has no tier of 12"}),
    (scratch(per_unit_storage_throughput=200), {"LUSTRE-THROUGHPUT-TIER": "Leave the tier out."}),
    (scratch1(per_unit_storage_throughput=50), {"LUSTRE-THROUGHPUT-TIER": "has no throughput tiers"}),
    (tiering(per_unit_storage_throughput=125), {"LUSTRE-THROUGHPUT-TIER": "has no throughput tiers"}),
    (persistent2(tier=250, region="il-central-1"), {}),
    (persistent2(tier=500, region="il-central-1"), {"LUSTRE-THROUGHPUT-TIER": "Allowed: 125, 250 MB/s"}),
    (persistent2(tier=1000, region="mx-central-1"), {"LUSTRE-THROUGHPUT-TIER": "in mx-central-1"}),
    # Deployment and storage types
    (scratch(deployment_type="SCRATCH_3"), {"LUSTRE-DEPLOYMENT-TYPE": "SCRATCH_1, SCRATCH_2, PERSISTENT_1"}),
    (scratch(deployment_type="scratch_2"), {"LUSTRE-DEPLOYMENT-TYPE": "'scratch_2'"}),
    (
        scratch(storage_type="HDD", drive_cache_type="NONE"),
        {"LUSTRE-STORAGE-TYPE": "SCRATCH_2 has no HDD storage. Allowed: SSD."},
    ),
    (
        persistent2(tier=None, storage_type="HDD", drive_cache_type="READ"),
        {"LUSTRE-STORAGE-TYPE": "Allowed: SSD, INTELLIGENT_TIERING."},
    ),
    (
        scratch(
            None,
            deployment_type="PERSISTENT_1",
            storage_type="INTELLIGENT_TIERING",
            throughput_capacity_mbps=4000,
        ),
        {"LUSTRE-STORAGE-TYPE": "Allowed: SSD, HDD."},
    ),
    (hdd(cache="READ"), {}),
    (hdd(cache=None), {"LUSTRE-DRIVE-CACHE": "Allowed: NONE, READ."}),
    (hdd(cache="WRITE"), {"LUSTRE-DRIVE-CACHE": "WRITE was given"}),
    (persistent1(drive_cache_type="READ"), {"LUSTRE-DRIVE-CACHE": "Only HDD storage"}),
    # Versions
    *((scratch(file_system_type_version=version), {}) for version in ("2.10", "2.12", "2.15")),
    (persistent2(file_system_type_version="2.12"), {}),
    (persistent2(file_system_type_version="2.10"), {"LUSTRE-VERSION": "Allowed: 2.12, 2.15. Choose 2.15."}),
    (
        persistent2(file_system_type_version="2.12", metadata_mode="AUTOMATIC"),
        {"LUSTRE-VERSION": "with a metadata configuration cannot run Lustre 2.12"},
    ),
    (scratch(file_system_type_version="2.16"), {"LUSTRE-VERSION": "Allowed: 2.10, 2.12, 2.15."}),
    (scratch(file_system_type_version=None), {"LUSTRE-VERSION-DEFAULT": "AWS takes 2.10 for SCRATCH_2"}),
    (persistent2(file_system_type_version=None), {"LUSTRE-VERSION-DEFAULT": "2.12 for PERSISTENT_2"}),
    (persistent2(file_system_type_version=None, metadata_mode="AUTOMATIC"), {}),
    # Compression, encryption
    (scratch(data_compression_type="NONE"), {}),
    (scratch(data_compression_type="ZSTD"), {"LUSTRE-COMPRESSION": "Allowed: NONE, LZ4."}),
    (persistent1(kms_key_id="alias/data"), {}),
    (persistent2(kms_key_id="alias/data"), {}),
    (scratch(kms_key_id="alias/data"), {"LUSTRE-KMS": "alias/data was given"}),
    (scratch1(kms_key_id="alias/data"), {"LUSTRE-KMS": "choose PERSISTENT_1 or PERSISTENT_2"}),
    (scratch(kms_key_id=UNRESOLVED), {"LUSTRE-KMS": "(known at deployment) was given"}),
    (persistent2(kms_key_id=UNRESOLVED), {}),
    # Metadata
    (persistent2(metadata_mode="AUTOMATIC"), {}),
    *(
        (persistent2(metadata_mode="USER_PROVISIONED", metadata_iops=iops), {})
        for iops in (1500, 3000, 6000, 12_000, 24_000, 192_000)
    ),
    *(
        (
            persistent2(metadata_mode="USER_PROVISIONED", metadata_iops=iops),
            {"LUSTRE-METADATA": f"cannot have {'no' if iops is None else iops} IOPS"},
        )
        for iops in (0, 1000, 18_000, 204_000, None)
    ),
    (persistent2(metadata_mode="AUTOMATIC", metadata_iops=1500), {"LUSTRE-METADATA": "takes no IOPS"}),
    (persistent2(metadata_iops=1500), {"LUSTRE-METADATA": "needs a metadata mode, and nothing was given"}),
    (scratch(metadata_mode="AUTOMATIC"), {"LUSTRE-METADATA": "given to SCRATCH_2"}),
    (tiering(metadata_mode="USER_PROVISIONED", metadata_iops=6000), {}),
    (tiering(metadata_mode="USER_PROVISIONED", metadata_iops=1500), {"LUSTRE-METADATA": "6000, 12000."}),
    (tiering(metadata_mode="AUTOMATIC"), {"LUSTRE-METADATA": "Allowed: USER_PROVISIONED."}),
    # EFA
    (efa(), {}),
    (efa(76_800), {}),
    (efa(19_200, 250), {}),
    (efa(9600, 500), {}),
    (efa(4800, 1000), {}),
    (efa(1200), {"LUSTRE-EFA": "multiples of 38400 GiB; 1200 GiB was given"}),
    (efa(2400, 1000), {"LUSTRE-EFA": "take 4800 GiB or more"}),
    (efa(7200, 1000), {"LUSTRE-EFA": "multiples of 4800 GiB"}),
    (efa(metadata_mode=None), {"LUSTRE-EFA": "asked of PERSISTENT_2 without a metadata configuration"}),
    (scratch(efa_enabled=True), {"LUSTRE-EFA": "EFA was asked of SCRATCH_2"}),
    (efa(region="mx-central-1"), {"LUSTRE-EFA": "no EFA for Lustre file systems in mx-central-1"}),
    # Regions
    (scratch(region="us-east-1"), {}),
    (scratch(region="me-south-1"), {}),
    (scratch(region="xx-new-1"), {}),
    (scratch1(region="ap-east-2"), {}),
    (persistent2(region="ap-southeast-7"), {}),
    *(
        (scratch(region=region), {"LUSTRE-REGION": "Allowed there: PERSISTENT_2."})
        for region in (
            "ap-east-2",
            "ap-southeast-5",
            "ap-southeast-6",
            "ap-southeast-7",
            "ca-west-1",
            "mx-central-1",
        )
    ),
    (persistent1(region="il-central-1"), {"LUSTRE-REGION": "Allowed there: SCRATCH_2, PERSISTENT_2."}),
    (persistent2(region="me-central-1"), {"LUSTRE-REGION": "Allowed there: SCRATCH_2, PERSISTENT_1."}),
    # Subnet
    (scratch(subnet_ids=("subnet-1",)), {}),
    (scratch(subnet_ids=(UNRESOLVED,)), {}),
    (scratch(subnet_ids=UNRESOLVED), {}),
    (scratch(subnet_ids=(UNRESOLVED, UNRESOLVED)), {"LUSTRE-ONE-SUBNET": "2 were given"}),
    (scratch(subnet_ids=("subnet-1", "subnet-2")), {"LUSTRE-ONE-SUBNET": "2 were given: subnet-1, subnet-2"}),
    (scratch(subnet_ids=()), {"LUSTRE-ONE-SUBNET": "0 were given: none."}),
    # Backups
    (persistent1(automatic_backup_retention_days=90), {}),
    (scratch(automatic_backup_retention_days=0), {}),
    (persistent1(automatic_backup_retention_days=91), {"LUSTRE-BACKUPS": "up to 90 days; 91"}),
    (scratch(automatic_backup_retention_days=1), {"LUSTRE-BACKUPS": "neither for scratch"}),
    (persistent2(automatic_backup_retention_days=7, links=(LINK,)), {"LUSTRE-BACKUPS": "linked to S3"}),
    # Import and export paths
    # A type that does not exist is told of once, not as missing in the Region too
    (
        scratch(deployment_type="SCRATCH_9", region="us-east-1"),
        {"LUSTRE-DEPLOYMENT-TYPE": "no deployment type 'SCRATCH_9'"},
    ),
    (scratch(import_path="s3://bucket"), {}),
    (scratch1(import_path="s3://bucket/data", auto_import_policy="NEW_CHANGED"), {}),
    (persistent1(import_path="s3://bucket/data", imported_file_chunk_size_mib=512_000), {}),
    (persistent2(import_path="s3://bucket"), {"LUSTRE-IMPORT-PATH-TYPE": "data repository association"}),
    (persistent2(import_path=UNRESOLVED), {"LUSTRE-IMPORT-PATH-TYPE": "PERSISTENT_2 takes no import path"}),
    (scratch(import_path=UNRESOLVED), {}),
    (scratch(links=(LINK,), import_path=UNRESOLVED), {"LUSTRE-IMPORT-OR-LINKS": "Keep the associations."}),
    (
        scratch(import_path=UNRESOLVED, export_path=UNRESOLVED),
        {"LUSTRE-EXPORT-BY-ITSELF": "(known at deployment) by itself"},
    ),
    (scratch(import_path="bucket"), {"LUSTRE-IMPORT-PATH": "'bucket' is not an S3 address"}),
    (scratch(import_path="s3://My_Bucket/data"), {"LUSTRE-IMPORT-PATH": "is wrong: 'My_Bucket' is no name"}),
    (scratch(import_path="s3://mine-s3alias"), {"LUSTRE-IMPORT-PATH": "no general purpose bucket"}),
    (scratch(import_path="s3://"), {"LUSTRE-IMPORT-PATH": "s3://BUCKET/PREFIX"}),
    (
        scratch(import_path="s3://bucket/a", export_path="s3:///x"),
        {"LUSTRE-EXPORT-PATH": "export path is wrong", "LUSTRE-EXPORT-BY-ITSELF": "ever exported"},
    ),
    (
        scratch(import_path="s3://bucket/a", export_path="s3://other/a"),
        {"LUSTRE-EXPORT-PATH": "Choose a prefix in bucket", "LUSTRE-EXPORT-BY-ITSELF": "export task"},
    ),
    (
        scratch(import_path="s3://bucket/data", export_path="s3://bucket/out"),
        {"LUSTRE-EXPORT-BY-ITSELF": "association that has an export policy"},
    ),
    *(
        (
            scratch(import_path="s3://bucket/data", export_path=path),
            {
                "LUSTRE-EXPORT-OVERWRITES": "export_overwrites_import",
                "LUSTRE-EXPORT-BY-ITSELF": "ever exported",
            },
        )
        for path in ("s3://bucket/data", "s3://bucket/data/", "s3://bucket", "s3://bucket/")
    ),
    (
        scratch(
            import_path="s3://bucket/data", export_path="s3://bucket/data", export_overwrites_import=True
        ),
        {"LUSTRE-EXPORT-BY-ITSELF": "ever exported"},
    ),
    (
        scratch(export_path="s3://bucket/out"),
        {"LUSTRE-NEEDS-IMPORT-PATH": "no export path", "LUSTRE-EXPORT-BY-ITSELF": "ever exported"},
    ),
    (scratch(auto_import_policy="NEW"), {"LUSTRE-NEEDS-IMPORT-PATH": "no auto-import policy NEW"}),
    (scratch(auto_import_policy="NONE"), {}),
    (
        scratch(import_path="s3://bucket", auto_import_policy="ALL"),
        {"LUSTRE-AUTO-IMPORT-POLICY": "NONE, NEW, NEW_CHANGED, NEW_CHANGED_DELETED"},
    ),
    *(
        (
            scratch(import_path="s3://bucket", imported_file_chunk_size_mib=size),
            {"LUSTRE-CHUNK-SIZE": f"chunk size of {size} MiB"},
        )
        for size in (0, -1, 512_001)
    ),
    (scratch(import_path="s3://bucket", imported_file_chunk_size_mib=1), {}),
    (scratch(links=(LINK,)), {}),
    (
        scratch(links=(LINK,), import_path="s3://bucket"),
        {"LUSTRE-IMPORT-OR-LINKS": "import path s3://bucket. Keep the associations."},
    ),
    (
        scratch(links=(LINK,), imported_file_chunk_size_mib=1024),
        {"LUSTRE-IMPORT-OR-LINKS": "imported file chunk size 1024"},
    ),
    # The data and the space for it
    (scratch(dataset_bytes=1200 * GIB), {}),
    (scratch(2400, dataset_bytes=1200 * GIB + 1), {}),
    (scratch(dataset_bytes=1200 * GIB + 1), {"LUSTRE-DATA-FITS": "Take 2400 GiB."}),
    (
        scratch(dataset_bytes=9000 * GIB),
        {"LUSTRE-DATA-FITS": "The data is 9000 GiB and the file system 1200"},
    ),
    (hdd(dataset_bytes=6001 * GIB), {"LUSTRE-DATA-FITS": "Take 12000 GiB."}),
    (tiering(dataset_bytes=10**18), {}),
]


@pytest.mark.parametrize(("value", "expected"), CASES)
def test_a_file_system_is_judged(value, expected, assert_findings):
    assert_findings(RULES, value, expected)


def growth(asked, current):
    return LustreGrowth(current=current, storage_capacity_gib=asked)


GROWTH_CASES = [
    (growth(2400, scratch(1200)), {}),
    (growth(4800, scratch(1200)), {}),
    (growth(1200, scratch(1200)), {}),
    (growth(2400, persistent2(1200)), {}),
    (growth(12_000, hdd(6000)), {}),
    (growth(3600, hdd(1800, 40)), {}),
    (growth(9600, efa(4800, 1000)), {}),
    (growth(UNRESOLVED, scratch(1200)), {}),
    (growth(3600, scratch(1200)), {"LUSTRE-GROWTH": "Choose 2400 or 4800, or make a new file system."}),
    (growth(1200, scratch(2400)), {"LUSTRE-GROWTH": "never shrinks; it has 2400 GiB and 1200 GiB was asked"}),
    (growth(0, scratch(1200)), {"LUSTRE-GROWTH": "Choose 2400,"}),
    (growth(7200, efa(4800, 1000)), {"LUSTRE-GROWTH": "multiples of 4800 GiB"}),
    (growth(9000, hdd(6000)), {"LUSTRE-GROWTH": "Choose 12000,"}),
    (growth(3600, scratch1(1200)), {"LUSTRE-GROWTH": "SCRATCH_1 file system cannot grow"}),
]


@pytest.mark.parametrize(("value", "expected"), GROWTH_CASES)
def test_a_file_system_grows(value, expected, assert_findings):
    assert_findings(GROWTH_RULES, value, expected)


def test_every_rule_fires_in_a_table():
    fired = {rule for _, expected in [*CASES, *GROWTH_CASES] for rule in expected}
    assert fired == {rule.id for rule in (*RULES, *GROWTH_RULES)}


@pytest.mark.parametrize(
    ("value", "operation", "code"),
    [
        (scratch(3600), "fsx:CreateFileSystem", "BadRequest"),
        (persistent2(tier=50), "fsx:CreateFileSystem", "InvalidPerUnitStorageThroughput"),
        (scratch(import_path="data"), "fsx:CreateFileSystem", "InvalidImportPath"),
        (scratch(links=(LINK,), import_path="s3://b"), "fsx:CreateDataRepositoryAssociation", "BadRequest"),
    ],
)
def test_aws_refuses_with_its_own_code(value, operation, code):
    refused = refusal(RULES, value, operation)
    assert refused is not None
    assert refused[0].code == code


@pytest.mark.parametrize(
    "value",
    [
        scratch(dataset_bytes=10**16),
        scratch(file_system_type_version=None),
        scratch(import_path="s3://bucket", export_path="s3://bucket"),
    ],
)
def test_aws_accepts_what_only_good_sense_forbids(value):
    assert check(RULES, value)
    assert refusal(RULES, value, "fsx:CreateFileSystem") is None


def test_the_regions_are_those_of_botocore():
    from botocore.loaders import create_loader

    partitions = create_loader().load_data("partitions")["partitions"]
    named = {region: entry["description"] for each in partitions for region, entry in each["regions"].items()}
    assert set(LUSTRE_DEPLOYMENT_TYPES) <= set(named)
    without_scratch = {
        named[region].partition("(")[2].rstrip(")")
        for region, types in LUSTRE_DEPLOYMENT_TYPES.items()
        if "SCRATCH_2" not in types
    }
    assert without_scratch == {"Taipei", "Malaysia", "New Zealand", "Thailand", "Calgary", "Central"}
